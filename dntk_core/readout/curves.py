"""Scores of a readout over the number of gradients, over kernel rank, over ridge."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dntk_core.base.errors import DNTKError
from dntk_core.base.text import html_table
from dntk_core.distill.mixing import Mixing
from dntk_core.kernels.modes import Modes
from dntk_core.kernels.ridge import absolute_ridge
from dntk_core.kernels.spectrum import spectrum
from dntk_core.readout.compressed import Compressed
from dntk_core.readout.conditioning import conditioning_of, prefix_conditioning
from dntk_core.readout.metrics import METRICS
from dntk_core.readout.problem import Problem
from dntk_core.readout.ridge import compress, score_solutions, solutions
from dntk_core.readout.scores import Scored, score_predictions


@dataclass(frozen=True)
class Curve(Scored[np.ndarray]):
    """Scores and conditioning of q readouts.

    scores:    every metric's (q,)
    x:         (q,)  the sizes, ranks or ridges
    condition: (q,)  condition number of the matrix solved, λ included, averaged over classes
    smallest:  (q,)  its smallest eigenvalue, λ included, averaged over classes
    """

    x: np.ndarray
    condition: np.ndarray
    smallest: np.ndarray

    def _repr_html_(self) -> str:
        titles = ["", *(METRICS[name].title for name in self.scores), "Condition"]
        rows = [
            [f"{x:g}", *(f"{values[i]:{METRICS[name].format}}" for name, values in self.scores.items()), f"{c:.3g}"]
            for i, (x, c) in enumerate(zip(self.x, self.condition, strict=True))
        ]
        return html_table(titles, rows)


def checked(name: str, values: Sequence[int] | np.ndarray, largest: int) -> np.ndarray:
    """Refuse sizes or ranks outside 1..largest: (q,)."""
    numbers = np.asarray(values)
    if numbers.size == 0 or numbers.min() < 1 or numbers.max() > largest:
        raise DNTKError(f"{name} must lie in 1..{largest}, got {numbers.tolist()}")
    return numbers


def size_curve(problem: Problem, mixing: Mixing, sizes: Sequence[int], ridge: float, by: str = "paper") -> Curve:
    """Score the first s rows of a mixing for every s in sizes (q,), from one factorisation per class."""
    return prefix_curve(problem, compress(problem.kernels, problem.targets, mixing, by), sizes, ridge)


def prefix_curve(problem: Problem, compressed: Compressed, sizes: Sequence[int], ridge: float) -> Curve:
    """Score the first s rows of a mixing that is already applied."""
    lam = absolute_ridge(problem.kernels, ridge)
    s = checked("sizes", sizes, compressed.size)
    scores = score_solutions(problem, [(compressed, solutions(compressed, lam, s))])
    return Curve(scores, s, *prefix_conditioning(np.asarray(compressed.gram), lam, s))


def separate_curve(problem: Problem, compressed: Sequence[Compressed], ridge: float) -> Curve:
    """Score q mixings of different sizes, each by itself, in one pass over the cross kernels."""
    lam = absolute_ridge(problem.kernels, ridge)
    sizes = np.array([each.size for each in compressed])
    solved = [(each, solutions(each, lam)) for each in compressed]
    condition, smallest = np.mean([conditioning_of(each.ends, lam) for each in compressed], axis=2).T
    return Curve(score_solutions(problem, solved), sizes, condition, smallest)


def rank_curve(problem: Problem, ranks: Sequence[int], ridge: float, modes: Sequence[Modes] | None = None) -> Curve:
    """Score the best rank-r kernels: f_r = Σ_{j<=r} u_jᵀy/(σ_j + λ) K* u_j for every r in ranks (q,)."""
    lam = absolute_ridge(problem.kernels, ridge)
    m = len(problem.targets)
    r = checked("ranks", ranks, m)
    modes = problem.kernels.modes(problem.targets) if modes is None else modes
    kept = np.arange(m)[:, None] < r
    predictions = (each.predict(kept[: len(each.load)] * (each.load / (each.values + lam))[:, None]) for each in modes)
    scores = score_predictions(problem, predictions)
    values = np.stack([_padded(each.values, m) for each in modes]) + lam
    least = values[:, r - 1]
    return Curve(scores, r, np.mean(values[:, :1] / least, axis=0), np.mean(least, axis=0))


def ridge_curve(problem: Problem, mixing: Mixing | None, ridges: Sequence[float], by: str = "paper") -> Curve:
    """Score one mixing, or the full readout, for every dimensionless ridge (q,)."""
    if mixing is None:
        return full_ridge_curve(problem, ridges, problem.kernels.modes(problem.targets))
    return compressed_ridge_curve(problem, compress(problem.kernels, problem.targets, mixing, by), ridges)


def compressed_ridge_curve(problem: Problem, compressed: Compressed, ridges: Sequence[float]) -> Curve:
    """Score a mixing that is already applied for every ridge (q,), from one eigendecomposition per class."""
    lams = np.array([absolute_ridge(problem.kernels, ridge) for ridge in ridges])
    solved, condition, smallest = [], np.zeros(len(lams)), np.zeros(len(lams))
    shared = spectrum(compressed.gram[0]) if compressed.shared else None
    for G, b in zip(compressed.gram, compressed.targets, strict=True):
        each = shared or spectrum(G)
        values = each.values[:, None] + lams
        solved.append(each.vectors @ ((each.vectors.T @ b)[:, None] / values))
        # Of more rows than features some directions have no energy.
        least = values[-1] if compressed.size == len(values) else lams
        condition += values[0] / least / len(compressed.gram)
        smallest += least / len(compressed.gram)
    scores = score_solutions(problem, [(compressed, np.stack(solved))])
    return Curve(scores, np.asarray(ridges), condition, smallest)


def full_ridge_curve(problem: Problem, ridges: Sequence[float], modes: Sequence[Modes]) -> Curve:
    """Score the full readout for every ridge (q,), its modes at hand."""
    lams = np.array([absolute_ridge(problem.kernels, ridge) for ridge in ridges])
    predictions = (each.predict(each.load[:, None] / (each.values[:, None] + lams)) for each in modes)
    scores = score_predictions(problem, predictions)
    values = [_padded(each.values, len(problem.targets)) for each in modes]
    condition = np.mean([(each[0] + lams) / (each[-1] + lams) for each in values], axis=0)
    return Curve(scores, np.asarray(ridges), condition, np.mean([each[-1] + lams for each in values], axis=0))


def _padded(values: np.ndarray, m: int) -> np.ndarray:
    """All m eigenvalues, those that are 0 included."""
    return np.append(values, np.zeros(m - len(values)))
