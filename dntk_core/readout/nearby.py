"""Ridge systems of many rows at one ridge after another: the first is factorised, others start from that factor."""

from dataclasses import dataclass, field

import numpy as np
from scipy.linalg import cho_factor, cho_solve

# A residual of this share of the right side is none; steps beyond which another factorisation is cheaper.
NONE, STEPS = 1e-10, 8


@dataclass
class Factors:
    """Lower Cholesky factors of G^c + λ₀I of every class, kept from the first ridge λ₀ asked for."""

    kept: list[np.ndarray] = field(default_factory=list)


def solve_nearby(gram: np.ndarray, targets: np.ndarray, lam: float, factors: Factors) -> np.ndarray:
    """Solve (G^c + λI) w^c = b^c for grams (C, s, s), b (C, s): (C, s, 1); LinAlgError where that is singular."""
    systems = list(zip(gram, targets, strict=True))
    if len(factors.kept) < len(systems):
        made = [_factor(G, lam) for G, _ in systems]
        factors.kept = made
        return np.stack([_solved(L, b) for L, (_, b) in zip(made, systems, strict=True)])[..., None]
    return np.stack([_refined(G, b, lam, L) for L, (G, b) in zip(factors.kept, systems, strict=True)])[..., None]


def _factor(G: np.ndarray, lam: float) -> np.ndarray:
    """L of G + λI = L Lᵀ, in place of a copy."""
    shifted = np.array(G, order="F")
    shifted[np.diag_indices_from(shifted)] += lam
    return cho_factor(shifted, lower=True, overwrite_a=True, check_finite=False)[0]


def _solved(L: np.ndarray, b: np.ndarray) -> np.ndarray:
    return cho_solve((L, True), b, check_finite=False)


def _refined(G: np.ndarray, b: np.ndarray, lam: float, L: np.ndarray) -> np.ndarray:
    """Conjugate gradients with the factor of another ridge; where that is too far away, by a factor of its own.

    (G + λ₀I)⁻¹(G + λI) has eigenvalues (σ + λ)/(σ + λ₀), nearly all 1 unless many σ lie below both ridges.
    """
    w = _solved(L, b)
    r = b - G @ w - lam * w
    z = p = _solved(L, r)
    for _ in range(STEPS):
        if np.linalg.norm(r) <= NONE * np.linalg.norm(b):
            return w
        q, energy = G @ p + lam * p, r @ z
        step = energy / (p @ q)
        w, r = w + step * p, r - step * q
        z = _solved(L, r)
        p = z + (r @ z) / energy * p
    return _solved(_factor(G, lam), b)
