"""Local-global distillation when the number of gradients is given instead of H, τ_v and τ_g."""

from collections.abc import Iterable

import numpy as np

from dntk_core.base.errors import DNTKError
from dntk_core.distill.local_global import GAP_RULES, Lifted, Rows, rows_of
from dntk_core.distill.mixing import Mixing, Setting
from dntk_core.kernels.decomposition import Decomposition
from dntk_core.kernels.kernel import Kernel
from dntk_core.kernels.subspace import added_energy, largest_energy

BUDGET_TAU_V = np.append(np.arange(0.05, 0.96, 0.05), 0.99)


class TooFew(DNTKError):
    """Fewer gradients are allowed than any setting makes."""


def local_global_within(kernel: Kernel, decompositions: Iterable[Decomposition], size: int) -> Mixing:
    """Choose among the settings of Algorithm 1 with at most `size` rows the one that captures most. Not nested.

    Tried are all given clusterings, both gap rules and τ_v = 0.05 … 0.99, with the largest τ_g that keeps to the
    size. "Captures" is the centred energy of the mean kernel in the span: no targets, no test data. That is also what
    kernel PCA maximises; the mixing's setting says what was taken.
    """
    best, most, fewest = None, -np.inf, np.inf
    for parts in decompositions:
        settings = list(_settings(parts, size))
        fewest = min(fewest, parts.H)
        if not settings:
            continue
        local = np.unique(np.concatenate([rows.local for _, rows, _ in settings]))
        gaps = np.unique(np.concatenate([gaps for _, _, gaps in settings]))
        # Every setting takes its rows from one pool, which is multiplied with the kernel once.
        pool = Lifted(parts, local, gaps).matrix
        cross = kernel.times(np.ascontiguousarray(pool.T))
        gram, energy = pool @ cross, largest_energy(pool, parts.spectrum.trace)
        for setting, rows, chosen in settings:
            place = np.append(np.searchsorted(local, rows.local), len(local) + np.searchsorted(gaps, chosen))
            captured = added_energy(cross[:, place], gram[np.ix_(place, place)], energy).sum()
            if captured > most:
                best, most = (parts, setting, rows, chosen), captured
    if best is None:
        raise TooFew(f"{size} gradients are too few: every cluster gives at least one, and there are {fewest} or more")
    parts, setting, rows, chosen = best
    return Lifted(parts, rows.local, chosen, rows.removed(setting.tau_g), setting)


def _settings(parts: Decomposition, size: int) -> Iterable[tuple[Setting, Rows, np.ndarray]]:
    """All settings of one clustering with at most `size` rows, with their local rows and their gaps."""
    for rule in GAP_RULES:
        for tau_v in map(float, BUDGET_TAU_V):
            rows = rows_of(parts, tau_v, rule)
            room = size - len(rows.local)
            if room < 0:
                break
            # With τ_g at the c_j of the first direction that must stay out, ties stay out with it.
            ordered = np.sort(rows.coverage)
            tau_g = float(ordered[room]) if room < len(ordered) else 1.0
            yield Setting(parts.H, tau_v, min(tau_g, 1.0), rule), rows, rows.gaps(tau_g)
