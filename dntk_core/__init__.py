"""Distilled neural tangent kernels: a trained network's kernel, computed once, explored live."""

from typing import TYPE_CHECKING, Any

from dntk_core.base.compute import Compute
from dntk_core.base.errors import Cancelled, DNTKError
from dntk_core.base.progress import Progress
from dntk_core.base.spec import RunSpec
from dntk_core.distill import METHODS, Mixing, Origin, Source, local_global
from dntk_core.kernels.class_kernels import Kernels
from dntk_core.kernels.clusters import spectral_clusters
from dntk_core.kernels.spectrum import effective_dimension, truncation_rank
from dntk_core.kernels.structure import containment, coverage
from dntk_core.readout.bounds import error_budget
from dntk_core.readout.comparison import compare, comparison_table
from dntk_core.readout.curves import rank_curve, ridge_curve, size_curve
from dntk_core.readout.grid import grid_search
from dntk_core.readout.problem import Problem
from dntk_core.readout.ridge import evaluate, predict
from dntk_core.readout.scores import Scores, score
from dntk_core.run.export import export_distilled, load_distilled
from dntk_core.run.from_features import from_features
from dntk_core.run.live import Live
from dntk_core.run.pipeline import Run, collect_garbage, delete_run, find_run, load_or_build, open_run, runs

if TYPE_CHECKING:
    from dntk_core.run.study import study


def __getattr__(name: str) -> Any:
    """Import `study` when it is asked for: it needs PyTorch, which takes seconds to load."""
    if name == "study":
        from dntk_core.run.study import study

        return study
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__all__ = [
    "METHODS",
    "Cancelled",
    "Compute",
    "DNTKError",
    "Kernels",
    "Live",
    "Mixing",
    "Origin",
    "Problem",
    "Progress",
    "Run",
    "RunSpec",
    "Scores",
    "Source",
    "collect_garbage",
    "compare",
    "comparison_table",
    "containment",
    "coverage",
    "delete_run",
    "effective_dimension",
    "error_budget",
    "evaluate",
    "export_distilled",
    "find_run",
    "from_features",
    "grid_search",
    "load_distilled",
    "load_or_build",
    "local_global",
    "open_run",
    "predict",
    "rank_curve",
    "ridge_curve",
    "runs",
    "score",
    "size_curve",
    "spectral_clusters",
    "study",
    "truncation_rank",
]
