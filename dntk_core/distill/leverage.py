"""Inputs drawn by their ridge leverage scores."""

import numpy as np

from dntk_core.distill.mixing import Mixing, selection
from dntk_core.kernels.spectrum import Spectrum


def leverage_scores(whole: Spectrum, lam: float) -> np.ndarray:
    """Return ℓ_i = [K (K + λI)⁻¹]_ii = Σ_j u_ij² σ_j/(σ_j+λ): (m,), summing to d(λ)."""
    return whole.vectors**2 @ (whole.leading / (whole.leading + lam))


def leverage(whole: Spectrum, lam: float, size: int, generator: np.random.Generator) -> Mixing:
    """Select inputs one after the other with probability ∝ ℓ_i, without replacement, in nested order."""
    weight = np.log(leverage_scores(whole, lam) + np.finfo(float).tiny)
    # In descending order, log ℓ_i plus Gumbel noise is a draw without replacement.
    order = np.argsort(-(weight + generator.gumbel(size=len(weight))))
    return selection(order[:size], len(weight))
