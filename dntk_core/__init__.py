"""Distilled neural tangent kernels: a trained network's kernel, computed once, explored live."""

from dntk_core.bounds import error_budget
from dntk_core.clusters import spectral_clusters
from dntk_core.comparison import compare, comparison_table
from dntk_core.compute import Compute
from dntk_core.curves import rank_curve, ridge_curve, size_curve
from dntk_core.distill import METHODS, Mixing, Origin, Source, local_global
from dntk_core.errors import Cancelled, DNTKError
from dntk_core.export import export_distilled, load_distilled
from dntk_core.grid import grid_search
from dntk_core.kernels import Kernels
from dntk_core.live import Live
from dntk_core.pipeline import Run, collect_garbage, delete_run, find_run, load_or_build, open_run, runs
from dntk_core.progress import Progress
from dntk_core.readout import Problem, Scores, evaluate, predict, score
from dntk_core.spec import RunSpec
from dntk_core.spectrum import effective_dimension, truncation_rank
from dntk_core.structure import containment, coverage

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
    "truncation_rank",
]
