"""A run as a whole: `pipeline` computes and opens it, one module of `stages/` for each row of the table of stages.

`pinning`, `estimate` and `cautions` look at a spec before anything is computed; `live` is what a dashboard keeps of a
finished run, `export` what leaves it, `ledger` what it costs. Only stages and the estimate load PyTorch.
"""

from dntk_core.run.export import export_distilled, load_distilled
from dntk_core.run.live import Live
from dntk_core.run.pipeline import (
    Run,
    collect_garbage,
    delete_run,
    find_run,
    load_or_build,
    open_run,
    runs,
    train_network,
)

__all__ = [
    "Live",
    "Run",
    "collect_garbage",
    "delete_run",
    "export_distilled",
    "find_run",
    "load_distilled",
    "load_or_build",
    "open_run",
    "runs",
    "train_network",
]
