"""Inputs drawn by their ridge leverage scores."""

import numpy as np

from dntk_core.distill.mixing import Mixing, selection
from dntk_core.kernels.spectrum import Spectrum


def tail_ridge(spectrum: Spectrum, size: int) -> float:
    """Return λ_s = (1/s) Σ_{j>s} σ_j: at this ridge about s directions count, and leverage tells inputs apart.

    At the much smaller ridge of the readout every score is nearly 1, and drawing by it is drawing uniformly.
    """
    return max(spectrum.trace - float(spectrum.values[:size].sum()), 0.0) / size


def leverage_scores(spectrum: Spectrum, diagonal: np.ndarray, lam: float) -> np.ndarray:
    """Return ℓ_i = [K (K + λI)⁻¹]_ii = Σ_j u_ij² σ_j/(σ_j+λ): (m,), summing to d(λ).

    diagonal: K_ii, (m,); what the known eigenpairs leave of it belongs to eigenvalues that are small beside λ
    """
    squares, values = spectrum.vectors**2, spectrum.values
    known = squares @ np.divide(values, values + lam, out=np.zeros_like(values), where=values > 0)
    if spectrum.complete:
        return known
    return known + np.clip(diagonal - squares @ values, 0.0, None) / (values[-1] + lam)


def leverage(spectrum: Spectrum, diagonal: np.ndarray, size: int, generator: np.random.Generator) -> Mixing:
    """Select inputs with probability ∝ ℓ_i at λ_s, without replacement, each weighted by √(mean ℓ/ℓ_i). Not nested.

    The weight makes up for how often an input is drawn: the expected A Kᵀ A is that of a uniform draw.
    """
    scores = leverage_scores(spectrum, diagonal, tail_ridge(spectrum, size))
    # An input without gradient is drawn last, and must not weigh without bound.
    scores = np.maximum(scores, 1e-6 * scores.mean() or 1.0)
    # In descending order, log ℓ_i plus Gumbel noise is a draw without replacement.
    chosen = np.argsort(-(np.log(scores) + generator.gumbel(size=len(scores))))[:size]
    weights = np.sqrt(scores.mean() / scores[chosen])
    return selection(chosen, len(scores), nested=False, weights=weights)
