"""Grid search of Algorithm 1 over clusters H and thresholds τ_v, τ_g."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dntk_core.base.errors import DNTKError
from dntk_core.base.progress import Progress, Report, ignore
from dntk_core.distill.local_global import candidates, mix
from dntk_core.kernels.clusters import cluster_embedding, embed
from dntk_core.kernels.decomposition import Decomposition, decompose
from dntk_core.kernels.ridge import absolute_ridge
from dntk_core.kernels.spectrum import check_share, spectrum
from dntk_core.readout.ridge import Compressed, Problem, coefficients, compress, score_coefficients


@dataclass(frozen=True)
class Grid:
    """Algorithm 1 at every combination of its settings.

    H, tau_v, tau_g: (a,), (b,), (g,)  the axes
    s, local, gap, removed:  (a, b, g)  rows kept, of which local and gap, and rows dropped as dependent
    accuracy, fidelity, mse: (a, b, g)
    """

    H: np.ndarray
    tau_v: np.ndarray
    tau_g: np.ndarray
    s: np.ndarray
    local: np.ndarray
    gap: np.ndarray
    removed: np.ndarray
    accuracy: np.ndarray
    fidelity: np.ndarray
    mse: np.ndarray

    def pareto(self, metric: str) -> np.ndarray:
        """Mark the cells that no other beats in both s and "accuracy", "fidelity" or "mse": (a, b, g) bool.

        A cell is beaten by one with no more rows and no worse value, if either is strictly better.
        """
        if metric not in ("accuracy", "fidelity", "mse"):
            raise DNTKError(f"the metric must be accuracy, fidelity or mse, got {metric!r}")
        value = getattr(self, metric).ravel() * (1.0 if metric == "mse" else -1.0)
        s = self.s.ravel()
        no_worse = (s[:, None] <= s) & (value[:, None] <= value)
        better = (s[:, None] < s) | (value[:, None] < value)
        return ~np.any(no_worse & better, axis=0).reshape(self.s.shape)


def grid_search(
    problem: Problem,
    H: Sequence[int],
    tau_v: Sequence[float],
    tau_g: Sequence[float],
    ridge: float,
    rule: str = "ratio",
    seed: int = 0,
    report: Report = ignore,
) -> Grid:
    """Cluster the mean kernel for each H (a,) and run Algorithm 1 with every τ_v (b,) and τ_g (g,)."""
    K = problem.kernels.mean
    whole = spectrum(K)
    embedding = embed(K, whole=whole)
    parts = [decompose(K, cluster_embedding(embedding, h, seed), whole) for h in H]
    return grid_of(problem, parts, tau_v, tau_g, ridge, rule, report)


def grid_of(
    problem: Problem,
    decompositions: Sequence[Decomposition],
    tau_v: Sequence[float],
    tau_g: Sequence[float],
    ridge: float,
    rule: str = "ratio",
    report: Report = ignore,
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
        layers.append(grid_layer(problem, parts, tau_v, tau_g, lam, rule))
    report(Progress("grid", len(H), len(H)))
    return Grid(H, np.asarray(tau_v), np.asarray(tau_g), *(np.stack(field) for field in zip(*layers, strict=True)))


def grid_layer(
    problem: Problem, parts: Decomposition, tau_v: Sequence[float], tau_g: Sequence[float], lam: float, rule: str
) -> tuple[np.ndarray, ...]:
    """Run one H: s, local, gap, removed, accuracy, fidelity, mse, each (b, g).

    All rows that any cell uses are compressed once. For one τ_v the gap rows are nested in τ_g, so one
    factorisation serves all τ_g; all cells are then scored in one pass over the cross kernels.
    """
    m, most = len(parts.labels), max(tau_g)
    choices = [candidates(parts, float(value), rule) for value in tau_v]
    local = np.unique(np.concatenate([choice.local for choice in choices]))
    gaps = np.unique(np.concatenate([choice.chosen(most) for choice in choices]))
    pool = compress(problem.kernels, problem.targets, mix(parts, local, gaps, removed=0))
    # Where in the pool a local eigenvector i, or a global one m + j, is.
    place = np.full(2 * m, -1)
    place[np.append(local, m + gaps)] = np.arange(len(pool.matrix))
    kept_local = np.array([[len(choice.local)] * len(tau_g) for choice in choices])
    kept_gaps = np.array([[len(choice.chosen(value)) for value in tau_g] for choice in choices])
    removed = np.array([[choice.removed(value) for value in tau_g] for choice in choices])
    s = kept_local + kept_gaps
    alpha, column, distinct = [], np.empty_like(s), 0
    for i, choice in enumerate(choices):
        rows = place[np.append(choice.local, m + choice.chosen(most))]
        part = Compressed(pool.matrix[rows], pool.gram[:, rows[:, None], rows], pool.targets[:, rows])
        # Neighbouring τ_g often choose the same gaps.
        sizes, which = np.unique(s[i], return_inverse=True)
        alpha.append(coefficients(part, lam, sizes))
        column[i] = distinct + which
        distinct += len(sizes)
    scores = score_coefficients(problem, np.concatenate(alpha, axis=2))
    return s, kept_local, kept_gaps, removed, *(score[column] for score in scores)
