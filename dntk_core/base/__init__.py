"""What every room uses: errors, progress, randomness, memory, where to compute, and the spec of a run.

Nothing here loads PyTorch but `device`, which is imported by itself where it is needed.
"""

from dntk_core.base.compute import PRECISIONS, Compute
from dntk_core.base.errors import Cancelled, DNTKError, Vanished
from dntk_core.base.memo import Memo
from dntk_core.base.progress import Progress, Report, Steps, ignore
from dntk_core.base.randomness import generator, signs
from dntk_core.base.spec import RunSpec
from dntk_core.base.text import is_line

__all__ = [
    "PRECISIONS",
    "Cancelled",
    "Compute",
    "DNTKError",
    "Memo",
    "Progress",
    "Report",
    "RunSpec",
    "Steps",
    "Vanished",
    "generator",
    "ignore",
    "is_line",
    "signs",
]
