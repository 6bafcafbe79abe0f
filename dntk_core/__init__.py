"""Distilled neural tangent kernels: a trained network's kernel, computed once, explored live."""

from dntk_core.compute import Compute
from dntk_core.errors import Cancelled, DNTKError
from dntk_core.kernels import Kernels
from dntk_core.pipeline import Run, collect_garbage, delete_run, find_run, load_or_build, open_run, runs
from dntk_core.progress import Progress
from dntk_core.spec import RunSpec

__all__ = [
    "Cancelled",
    "Compute",
    "DNTKError",
    "Kernels",
    "Progress",
    "Run",
    "RunSpec",
    "collect_garbage",
    "delete_run",
    "find_run",
    "load_or_build",
    "open_run",
    "runs",
]
