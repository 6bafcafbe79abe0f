"""Ridge systems of many rows at one ridge after another: one is factorised, those near it start from its factor."""

from dataclasses import dataclass, field

import numpy as np
from scipy.linalg import cho_factor, cho_solve

# An error of this share of the solution, in the norm of the system, is none; steps beyond which a factor is cheaper.
NONE, STEPS = 1e-9, 8


@dataclass
class Factors:
    """Lower Cholesky factors of G^c + λ₀I by class c, each of the last ridge λ₀ that needed one."""

    kept: dict[int, np.ndarray] = field(default_factory=dict)


def solve_nearby(gram: np.ndarray, targets: np.ndarray, lam: float, factors: Factors) -> np.ndarray:
    """Solve (G^c + λI) w^c = b^c for grams (C, s, s), b (C, s): (C, s, 1); LinAlgError where that is singular."""
    found = []
    for c, (G, b) in enumerate(zip(gram, targets, strict=True)):
        near = factors.kept.get(c)
        w = None if near is None else _refined(G, b, lam, near)
        if w is None:
            factors.kept[c] = L = _factor(G, lam)
            w = _solved(L, b)
        found.append(w)
    return np.stack(found)[..., None]


def _factor(G: np.ndarray, lam: float) -> np.ndarray:
    """L of G + λI = L Lᵀ, in place of a copy."""
    shifted = np.array(G, order="F")
    shifted[np.diag_indices_from(shifted)] += lam
    return cho_factor(shifted, lower=True, overwrite_a=True, check_finite=False)[0]


def _solved(L: np.ndarray, b: np.ndarray) -> np.ndarray:
    return cho_solve((L, True), b, check_finite=False)


def _refined(G: np.ndarray, b: np.ndarray, lam: float, L: np.ndarray) -> np.ndarray | None:
    """Conjugate gradients with the factor of another ridge; None where that is too far away.

    (G + λ₀I)⁻¹(G + λI) has eigenvalues (σ + λ)/(σ + λ₀), nearly all 1 unless many σ lie below both ridges.
    """
    w = _solved(L, b)
    whole, r = b @ w, b - G @ w - lam * w
    z = p = _solved(L, r)
    for _ in range(STEPS):
        if (energy := r @ z) <= NONE**2 * whole:
            return w
        q = G @ p + lam * p
        step = energy / (p @ q)
        w, r = w + step * p, r - step * q
        z = _solved(L, r)
        p = z + (r @ z) / energy * p
    return None
