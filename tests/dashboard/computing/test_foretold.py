"""What a run will take, in one sentence: in the cache, unknown, or a time."""

from dntk_core.base.spec import DataSpec, ModelSpec, RunSpec
from dntk_core.dashboard.computing.foretold import takes


def test_the_sentence_fits_what_is_known(default_run):
    assert takes(default_run.spec, 10).startswith("In the cache already · ")
    other = takes(RunSpec(model=ModelSpec("resnet18")), 10)
    assert "not known before it begins" in other and "of memory" in other and "of disk" in other
    assert takes(RunSpec(data=DataSpec("npz", "/mine.npz")), 0).endswith("known once its data have been read.")
