"""Gradient distillation: every method turns kernels into a mixing matrix A (s, m), which mixes m gradients into s.

One method per file; METHODS lists them. "Distil" means gradients: datasets are distilled in `dntk_core.dataset`.
"""

from dntk_core.distill.budget import TooFew
from dntk_core.distill.local_global import GAP_RULES, local_global
from dntk_core.distill.methods import METHODS, Method
from dntk_core.distill.mixing import Mixing, Origin, Setting, selection
from dntk_core.distill.source import Source

__all__ = [
    "GAP_RULES",
    "METHODS",
    "Method",
    "Mixing",
    "Origin",
    "Setting",
    "Source",
    "TooFew",
    "local_global",
    "selection",
]
