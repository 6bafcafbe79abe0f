"""A run as a whole: `pipeline` computes and opens it, one module of `stages/` for each row of the table of stages.

`pinning`, `estimate` and `cautions` look at a spec before anything is computed; `live` is what a dashboard keeps of a
finished run, `export` what leaves it, `ledger` what it costs. `series`, `across` and `progression` follow a training
over its checkpoints, `likeness` compares runs, `layers` takes one apart. Only stages and the estimate load PyTorch.
"""

from dntk_core.run.across import build_series, open_series
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
from dntk_core.run.series import all_series, trained_series, weights_series

__all__ = [
    "Live",
    "Run",
    "all_series",
    "build_series",
    "collect_garbage",
    "delete_run",
    "export_distilled",
    "find_run",
    "load_distilled",
    "load_or_build",
    "open_run",
    "open_series",
    "runs",
    "train_network",
    "trained_series",
    "weights_series",
]
