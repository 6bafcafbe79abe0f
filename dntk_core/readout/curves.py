"""Scores of a readout over the number of gradients, over kernel rank, over ridge."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dntk_core.base.errors import DNTKError
from dntk_core.distill.mixing import Mixing
from dntk_core.kernels.ridge import absolute_ridge
from dntk_core.kernels.spectrum import Spectrum, spectrum
from dntk_core.readout.conditioning import conditioning, prefix_conditioning
from dntk_core.readout.modes import class_modes
from dntk_core.readout.ridge import Compressed, Problem, coefficients, compress, score_coefficients, score_predictions


@dataclass(frozen=True)
class Curve:
    """Scores and conditioning of q readouts.

    x:         (q,)  the sizes, ranks or ridges
    accuracy, fidelity, mse: (q,)
    condition: (q,)  condition number of the matrix solved, λ included, averaged over classes
    smallest:  (q,)  its smallest eigenvalue, λ included, averaged over classes
    """

    x: np.ndarray
    accuracy: np.ndarray
    fidelity: np.ndarray
    mse: np.ndarray
    condition: np.ndarray
    smallest: np.ndarray


def checked(name: str, values: Sequence[int], largest: int) -> np.ndarray:
    """Refuse sizes or ranks outside 1..largest."""
    values = np.asarray(values)
    if values.size == 0 or values.min() < 1 or values.max() > largest:
        raise DNTKError(f"{name} must lie in 1..{largest}, got {values.tolist()}")
    return values


def size_curve(problem: Problem, mixing: Mixing | None, sizes: Sequence[int], ridge: float) -> Curve:
    """Score the first s rows of a mixing for every s in sizes (q,), from one factorisation per class."""
    return prefix_curve(problem, compress(problem.kernels, problem.targets, mixing), sizes, ridge)


def prefix_curve(problem: Problem, compressed: Compressed, sizes: Sequence[int], ridge: float) -> Curve:
    """Score the first s rows of a mixing that is already applied."""
    lam = absolute_ridge(problem.kernels, ridge)
    sizes = checked("sizes", sizes, len(compressed.matrix))
    scores = score_coefficients(problem, coefficients(compressed, lam, sizes))
    return Curve(sizes, *scores, *prefix_conditioning(compressed.gram, lam, sizes))


def separate_curve(problem: Problem, compressed: Sequence[Compressed], ridge: float) -> Curve:
    """Score q mixings of different sizes, each by itself, in one pass over the cross kernels."""
    lam = absolute_ridge(problem.kernels, ridge)
    sizes = np.array([len(each.matrix) for each in compressed])
    alpha = np.concatenate([coefficients(each, lam, [len(each.matrix)]) for each in compressed], axis=2)
    condition, smallest = np.mean([conditioning(each.gram, lam) for each in compressed], axis=2).T
    return Curve(sizes, *score_coefficients(problem, alpha), condition, smallest)


def rank_curve(
    problem: Problem, ranks: Sequence[int], ridge: float, spectra: tuple[Spectrum, ...] | None = None
) -> Curve:
    """Score the best rank-r kernels: f_r = Σ_{j<=r} u_jᵀy/(σ_j + λ) K* u_j for every r in ranks (q,)."""
    lam = absolute_ridge(problem.kernels, ridge)
    m = len(problem.targets)
    ranks = checked("ranks", ranks, m)
    modes = class_modes(problem, spectra)
    kept = np.arange(m)[:, None] < ranks
    predictions = (each.predict(kept[: len(each.load)] * (each.load / (each.values + lam))[:, None]) for each in modes)
    scores = score_predictions(problem, predictions)
    values = np.stack([_padded(each.values, m) for each in modes]) + lam
    least = values[:, ranks - 1]
    return Curve(ranks, *scores, np.mean(values[:, :1] / least, axis=0), np.mean(least, axis=0))


def ridge_curve(problem: Problem, mixing: Mixing | None, ridges: Sequence[float]) -> Curve:
    """Score one mixing for every dimensionless ridge (q,), from one eigendecomposition per class."""
    lams = np.array([absolute_ridge(problem.kernels, ridge) for ridge in ridges])
    if mixing is None:
        return _full_ridge_curve(problem, np.asarray(ridges), lams)
    compressed = compress(problem.kernels, problem.targets, mixing)
    alpha, condition, smallest = [], np.zeros(len(lams)), np.zeros(len(lams))
    for G, b in zip(compressed.gram, compressed.targets, strict=True):
        each = spectrum(G)
        values = each.values[:, None] + lams
        alpha.append(compressed.matrix.T @ (each.vectors @ ((each.vectors.T @ b)[:, None] / values)))
        condition += values[0] / values[-1] / len(compressed.gram)
        smallest += values[-1] / len(compressed.gram)
    return Curve(np.asarray(ridges), *score_coefficients(problem, np.stack(alpha)), condition, smallest)


def _full_ridge_curve(problem: Problem, ridges: np.ndarray, lams: np.ndarray) -> Curve:
    modes = class_modes(problem)
    predictions = (each.predict(each.load[:, None] / (each.values[:, None] + lams)) for each in modes)
    scores = score_predictions(problem, predictions)
    values = [_padded(each.values, len(problem.targets)) for each in modes]
    condition = np.mean([(each[0] + lams) / (each[-1] + lams) for each in values], axis=0)
    return Curve(ridges, *scores, condition, np.mean([each[-1] + lams for each in values], axis=0))


def _padded(values: np.ndarray, m: int) -> np.ndarray:
    """All m eigenvalues, those that are 0 included."""
    return np.append(values, np.zeros(m - len(values)))
