"""One module per stage of a run: build(work), and where there is any help(work).

Rows of `dntk_core.base.stages.STAGES` name them; they are imported when a stage is computed, since they load PyTorch.
"""
