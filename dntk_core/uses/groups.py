"""A kernel as the sum of its groups of parameters: what each of them brings, alone and among all."""

from collections.abc import Sequence

import numpy as np
from scipy.linalg import cho_factor, cho_solve


def trace_shares(traces: np.ndarray) -> np.ndarray:
    """tr K_g / Σ_g tr K_g of traces (G,): (G,)."""
    total = float(traces.sum())
    return traces / total if total > 0 else np.zeros_like(traces)


def fit_shares(cross: Sequence[np.ndarray], alpha: np.ndarray) -> np.ndarray:
    """Shares ⟨f_g, f⟩/‖f‖² of the fit f = Σ_g f_g, f_g = K*_g α, of cross kernels (t, m) each: (G,), their sum is 1."""
    parts = np.stack([K @ alpha for K in cross])
    whole = parts.sum(axis=0)
    energy = float(whole @ whole)
    return parts @ whole / energy if energy > 0 else np.zeros(len(parts))


def fitted(K: np.ndarray, cross: np.ndarray, y: np.ndarray, ridge: float) -> np.ndarray:
    """K* (K + λI)⁻¹ y with λ = ridge · tr K / m of this very kernel, (t,): groups differ in scale."""
    lam = max(ridge, 1e-9) * float(np.trace(K)) / len(K)
    return cross @ solved(K, y, lam)


def solved(K: np.ndarray, y: np.ndarray, lam: float) -> np.ndarray:
    """(K + λI)⁻¹ y, (m,); a kernel of zeros predicts 0 with any λ."""
    return cho_solve(cho_factor(K + (lam or 1.0) * np.eye(len(K))), y)
