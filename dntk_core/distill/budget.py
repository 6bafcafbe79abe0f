"""Local-global distillation when the number of gradients is given instead of H, τ_v and τ_g."""

from collections.abc import Iterable

import numpy as np

from dntk_core.base.errors import DNTKError
from dntk_core.distill.local_global import GAP_RULES, candidates, mix
from dntk_core.distill.mixing import Mixing
from dntk_core.kernels.decomposition import Decomposition
from dntk_core.kernels.subspace import subspace_coverage

BUDGET_TAU_V = np.append(np.arange(0.05, 0.96, 0.05), 0.99)


def local_global_within(kernel: np.ndarray, decompositions: Iterable[Decomposition], size: int) -> Mixing:
    """Choose among the settings of Algorithm 1 with at most `size` rows the one that captures most. Not nested.

    Tried are all given clusterings, both gap rules and τ_v = 0.05 … 0.99, with the largest τ_g that
    keeps to the size. "Captures" is subspace coverage of the mean kernel (m, m): no targets, no test data.
    """
    best, most = None, -np.inf
    for parts in decompositions:
        for rule in GAP_RULES:
            for tau_v in BUDGET_TAU_V:
                choice = candidates(parts, float(tau_v), rule)
                if len(choice.local) > size:
                    break
                gaps = choice.chosen(1.0)[: size - len(choice.local)]
                mixing = mix(parts, choice.local, gaps, removed=0)
                captured = subspace_coverage([kernel], mixing.matrix, np.array([size])).coverage[0]
                if captured > most:
                    best, most = mixing, captured
    if best is None:
        raise DNTKError(f"{size} gradients are too few: every cluster gives at least one, and there are 2 or more")
    return best
