"""Grid search of Algorithm 1 over clusters H and thresholds τ_v, τ_g."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from dntk_core.base.errors import DNTKError
from dntk_core.base.progress import Progress, Report, ignore
from dntk_core.distill.local_global import Lifted, Rows, rows_of
from dntk_core.kernels.clusters import cluster_embedding, embed
from dntk_core.kernels.decomposition import Decomposition, decompose
from dntk_core.kernels.ridge import absolute_ridge
from dntk_core.kernels.spectrum import check_share, spectrum
from dntk_core.readout.compressed import Compressed
from dntk_core.readout.metrics import METRICS
from dntk_core.readout.problem import Problem
from dntk_core.readout.ridge import readout, score_solutions, solutions
from dntk_core.readout.scores import Scored


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

    def frontier(self, metric: str) -> list[tuple[int, int, int]]:
        """The cells that no other beats, fewest rows first; of those alike in both, the first in order of the axes."""
        found: dict[tuple[int, float], tuple[int, int, int]] = {}
        for a, b, g in np.argwhere(self.pareto(metric)):
            found.setdefault((int(self.s[a, b, g]), float(self[metric][a, b, g])), (int(a), int(b), int(g)))
        return [found[place] for place in sorted(found)]

    def smallest(self, metric: str, wanted: float) -> tuple[int, int, int] | None:
        """The cell of fewest rows whose value is no worse than the one wanted; None if there is none."""
        enough = METRICS[metric].no_worse(self[metric], np.asarray(wanted))
        return next((cell for cell in self.frontier(metric) if enough[cell]), None)

    def best(self, metric: str, most: int) -> tuple[int, int, int] | None:
        """The cell of the best value with at most so many rows; None if all have more."""
        return next((cell for cell in reversed(self.frontier(metric)) if self.s[cell] <= most), None)


@dataclass(frozen=True)
class Chain:
    """Consecutive cells of one τ_v whose gap rows are nested: local rows, then gaps as they come in.

    local: (L,)  gaps: (G,)  sizes: (q,) distinct numbers of rows  cells: which of the sizes each cell has
    """

    local: np.ndarray
    gaps: np.ndarray
    sizes: np.ndarray
    cells: np.ndarray


@dataclass(frozen=True)
class Layer:
    """All cells of one H, ready for any ridge: chains of nested cells, each applied to the problem.

    local, gap, removed: (b, g)  rows kept of either kind, and rows dropped as dependent
    """

    H: int
    chains: tuple[Chain, ...]
    applied: tuple[Compressed, ...]
    local: np.ndarray
    gap: np.ndarray
    removed: np.ndarray


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
    energy: str = "gradients",
) -> Grid:
    """Cluster the mean kernel for each H (a,) and run Algorithm 1 with every τ_v (b,) and τ_g (g,)."""
    kernel = problem.kernels.kernel()
    known, embedding = spectrum(kernel), embed(kernel)
    parts = [decompose(kernel, cluster_embedding(embedding, h, seed), known).by(energy) for h in H]
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
    check_axes(decompositions, tau_v, tau_g)
    layers = (layer_of(problem, parts, tau_v, tau_g, rule, by) for parts in decompositions)
    return grid_of_layers(problem, [parts.H for parts in decompositions], layers, tau_v, tau_g, ridge, report)


def check_axes(H: Sequence, tau_v: Sequence[float], tau_g: Sequence[float]) -> None:
    """Refuse a grid without cells, or with a threshold that is no share."""
    if not (len(H) and len(tau_v) and len(tau_g)):
        raise DNTKError("a grid needs at least one value each of H, tau_v and tau_g")
    for value in tau_g:
        check_share("tau_g", value)


def grid_of_layers(
    problem: Problem,
    H: Sequence[int],
    layers: Iterable[Layer],
    tau_v: Sequence[float],
    tau_g: Sequence[float],
    ridge: float,
    report: Report = ignore,
) -> Grid:
    """Score the grid at one ridge; its layers are prepared one by one, for each H (a,)."""
    lam = absolute_ridge(problem.kernels, ridge)
    scores, counts = [], []
    report(Progress("grid", 0, len(H), f"H = {H[0]}"))
    for done, layer in enumerate(layers, start=1):
        scores.append(score_layer(problem, layer, lam))
        counts.append((layer.local, layer.gap, layer.removed))
        report(Progress("grid", done, len(H), f"H = {H[done]}" if done < len(H) else ""))
    by_metric = {name: np.stack([each[name] for each in scores]) for name in METRICS}
    stacked = (np.stack(field) for field in zip(*counts, strict=True))
    return Grid(by_metric, np.asarray(H), np.asarray(tau_v), np.asarray(tau_g), *stacked)


def layer_of(
    problem: Problem, parts: Decomposition, tau_v: Sequence[float], tau_g: Sequence[float], rule: str, by: str
) -> Layer:
    """Prepare one H for any ridge.

    All rows that any cell uses are compressed once. Where for one τ_v the gap rows are nested in τ_g, one
    factorisation serves all of these.
    """
    choices = [rows_of(parts, float(value), rule) for value in tau_v]
    gaps = [[rows.gaps(float(value)) for value in tau_g] for rows in choices]
    local = np.unique(np.concatenate([rows.local for rows in choices]))
    every = np.unique(np.concatenate([each for row in gaps for each in row]))
    chains = [chain for rows, row in zip(choices, gaps, strict=True) for chain in nested(rows, row)]

    def place(chain: Chain) -> np.ndarray:
        return np.append(np.searchsorted(local, chain.local), len(local) + np.searchsorted(every, chain.gaps))

    pool = Lifted(parts, local, every)
    applied = readout(by).compress(problem.kernels, problem.targets, pool, [place(chain) for chain in chains])
    return Layer(
        parts.H,
        tuple(chains),
        tuple(applied),
        np.array([[len(rows.local)] * len(tau_g) for rows in choices]),
        np.array([[len(each) for each in row] for row in gaps]),
        np.array([[rows.removed(float(value)) for value in tau_g] for rows in choices]),
    )


def score_layer(problem: Problem, layer: Layer, lam: float) -> dict[str, np.ndarray]:
    """Score all cells of one H in one pass over the cross kernels: every metric's (b, g)."""
    chains = layer.chains
    solved = [(each, solutions(each, lam, chain.sizes)) for each, chain in zip(layer.applied, chains, strict=True)]
    scores = score_solutions(problem, solved)
    firsts = np.cumsum([0, *(len(chain.sizes) for chain in chains)])
    column = np.concatenate([first + chain.cells for first, chain in zip(firsts, chains, strict=False)])
    return {name: values[column].reshape(layer.gap.shape) for name, values in scores.items()}
