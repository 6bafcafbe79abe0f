"""Grid search of Algorithm 1 over clusters H and thresholds τ_v, τ_g."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from dntk_core.base.errors import DNTKError
from dntk_core.base.progress import Progress, Report, ignore
from dntk_core.distill.local_global import Rows, mix, rows_of
from dntk_core.kernels.clusters import cluster_embedding, embed
from dntk_core.kernels.decomposition import Decomposition, decompose
from dntk_core.kernels.ridge import absolute_ridge
from dntk_core.kernels.spectrum import check_share, spectrum
from dntk_core.readout.metrics import METRICS
from dntk_core.readout.problem import Problem
from dntk_core.readout.ridge import coefficients, readout
from dntk_core.readout.scores import Scored, score_coefficients


@dataclass(frozen=True)
class Grid(Scored[np.ndarray]):
    """Algorithm 1 at every combination of its settings.

    scores: every metric's (a, b, g)
    H, tau_v, tau_g: (a,), (b,), (g,)  the axes
    local, gap, removed: (a, b, g)     rows kept of either kind, and rows dropped as dependent
    """

    H: np.ndarray
    tau_v: np.ndarray
    tau_g: np.ndarray
    local: np.ndarray
    gap: np.ndarray
    removed: np.ndarray

    @property
    def s(self) -> np.ndarray:
        """Rows kept: (a, b, g)."""
        return self.local + self.gap

    def pareto(self, metric: str) -> np.ndarray:
        """Mark the cells that no other beats in both s and a metric: (a, b, g) bool.

        A cell is beaten by one with no more rows and no worse value, if either is strictly better.
        """
        if metric not in METRICS:
            raise DNTKError(f"the metric must be one of {', '.join(METRICS)}, got {metric!r}")
        s, value, as_good = self.s.ravel(), self[metric].ravel(), METRICS[metric].no_worse
        no_worse = (s[:, None] <= s) & as_good(value[:, None], value)
        better = (s[:, None] < s) | ~as_good(value, value[:, None])
        return ~np.any(no_worse & better, axis=0).reshape(self.s.shape)


@dataclass(frozen=True)
class Chain:
    """Consecutive cells of one τ_v whose gap rows are nested: local rows, then gaps as they come in.

    local: (L,)  gaps: (G,)  sizes: (q,) distinct numbers of rows  cells: which of the sizes each cell has
    """

    local: np.ndarray
    gaps: np.ndarray
    sizes: np.ndarray
    cells: np.ndarray


def nested(rows: Rows, gaps: Sequence[np.ndarray]) -> list[Chain]:
    """Split the cells of one τ_v, given their gaps, into nested chains; one, unless orthogonalisation drops rows."""
    groups: list[list[np.ndarray]] = []
    for each in gaps:
        if groups and np.isin(groups[-1][-1], each).all():
            groups[-1].append(each)
        else:
            groups.append([each])
    chains = []
    for group in groups:
        order = np.concatenate([group[0], *(np.setdiff1d(b, a) for a, b in pairwise(group))])
        sizes, cells = np.unique([len(rows.local) + len(each) for each in group], return_inverse=True)
        chains.append(Chain(rows.local, order.astype(int), sizes, cells))
    return chains


def grid_search(
    problem: Problem,
    H: Sequence[int],
    tau_v: Sequence[float],
    tau_g: Sequence[float],
    ridge: float,
    rule: str = "ratio",
    seed: int = 0,
    report: Report = ignore,
    by: str = "paper",
) -> Grid:
    """Cluster the mean kernel for each H (a,) and run Algorithm 1 with every τ_v (b,) and τ_g (g,)."""
    kernel = problem.kernels.kernel()
    known, embedding = spectrum(kernel), embed(kernel)
    parts = [decompose(kernel, cluster_embedding(embedding, h, seed), known) for h in H]
    return grid_of(problem, parts, tau_v, tau_g, ridge, rule, report, by)


def grid_of(
    problem: Problem,
    decompositions: Sequence[Decomposition],
    tau_v: Sequence[float],
    tau_g: Sequence[float],
    ridge: float,
    rule: str = "ratio",
    report: Report = ignore,
    by: str = "paper",
) -> Grid:
    """Search the grid with decompositions of the mean kernel at hand, one per H."""
    if not (len(decompositions) and len(tau_v) and len(tau_g)):
        raise DNTKError("a grid needs at least one value each of H, tau_v and tau_g")
    for value in tau_g:
        check_share("tau_g", value)
    lam = absolute_ridge(problem.kernels, ridge)
    H = np.array([parts.H for parts in decompositions])
    layers = []
    for done, parts in enumerate(decompositions):
        report(Progress("grid", done, len(H), f"H = {parts.H}"))
        layers.append(grid_layer(problem, parts, tau_v, tau_g, lam, rule, by))
    report(Progress("grid", len(H), len(H)))
    scores = {name: np.stack([layer[0][name] for layer in layers]) for name in METRICS}
    counts = (np.stack(field) for field in zip(*(layer[1:] for layer in layers), strict=True))
    return Grid(scores, H, np.asarray(tau_v), np.asarray(tau_g), *counts)


def grid_layer(
    problem: Problem,
    parts: Decomposition,
    tau_v: Sequence[float],
    tau_g: Sequence[float],
    lam: float,
    rule: str,
    by: str,
) -> tuple[dict[str, np.ndarray], np.ndarray, np.ndarray, np.ndarray]:
    """Run one H: the scores by metric, rows kept of either kind, rows removed, each (b, g).

    All rows that any cell uses are compressed once. Where for one τ_v the gap rows are nested in τ_g, one
    factorisation serves all of these; all cells are then scored in one pass over the cross kernels.
    """
    choices = [rows_of(parts, float(value), rule) for value in tau_v]
    gaps = [[rows.gaps(float(value)) for value in tau_g] for rows in choices]
    local = np.unique(np.concatenate([rows.local for rows in choices]))
    every = np.unique(np.concatenate([each for row in gaps for each in row]))
    chains = [chain for rows, row in zip(choices, gaps, strict=True) for chain in nested(rows, row)]

    def place(chain: Chain) -> np.ndarray:
        return np.append(np.searchsorted(local, chain.local), len(local) + np.searchsorted(every, chain.gaps))

    pool = mix(parts, local, every)
    subsets = [place(chain) for chain in chains]
    applied = readout(by).compress(problem.kernels, problem.targets, pool, subsets)
    alpha = [coefficients(each, lam, chain.sizes) for each, chain in zip(applied, chains, strict=True)]
    scores = score_coefficients(problem, np.concatenate(alpha, axis=2))
    firsts = np.cumsum([0, *(len(chain.sizes) for chain in chains)])
    column = np.concatenate([first + chain.cells for first, chain in zip(firsts, chains, strict=False)])
    kept_local = np.array([[len(rows.local)] * len(tau_g) for rows in choices])
    kept_gaps = np.array([[len(each) for each in row] for row in gaps])
    removed = np.array([[rows.removed(float(value)) for value in tau_g] for rows in choices])
    return (
        {name: values[column].reshape(kept_gaps.shape) for name, values in scores.items()},
        kept_local,
        kept_gaps,
        removed,
    )
