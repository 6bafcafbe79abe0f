"""Ridge systems of many rows at one ridge after another: one is factorised, those near it start from its factor."""

from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.linalg.blas import dtrmv  # pyright: ignore[reportAttributeAccessIssue]

# An error of this share of the solution, in the norm of the system, is none; steps beyond which a factor is cheaper.
NONE, STEPS = 1e-9, 8


class Grams(Protocol):
    """Matrices G^c (C, s, s): an array, or what makes one of them when it is asked for."""

    def __getitem__(self, c: int, /) -> np.ndarray: ...


@dataclass
class Factors:
    """By class c the lower Cholesky factor of G^c + λ₀I, and λ₀, the last ridge that needed one."""

    kept: dict[int, tuple[np.ndarray, float]] = field(default_factory=dict)


def solve_nearby(grams: Grams, targets: np.ndarray, lam: float, factors: Factors) -> np.ndarray:
    """Solve (G^c + λI) w^c = b^c for grams (C, s, s), b (C, s): (C, s, 1); LinAlgError where that is singular."""
    found = []
    for c, b in enumerate(targets):
        near = factors.kept.get(c)
        w = None if near is None else _refined(*near, b, lam)
        if w is None:
            L = _factor(grams[c], lam)
            factors.kept[c], w = (L, lam), _solved(L, b)
        found.append(w)
    return np.stack(found)[..., None]


def _factor(G: np.ndarray, lam: float) -> np.ndarray:
    """L of G + λI = L Lᵀ, in the place of G if that is nobody else's."""
    # G is symmetric: transposed it is as LAPACK wants it.
    shifted = (G if G.flags.owndata else G.copy()).T
    shifted[np.diag_indices_from(shifted)] += lam
    return cho_factor(shifted, lower=True, overwrite_a=True, check_finite=False)[0]


def _solved(L: np.ndarray, b: np.ndarray) -> np.ndarray:
    return cho_solve((L, True), b, check_finite=False)


def _refined(L: np.ndarray, before: float, b: np.ndarray, lam: float) -> np.ndarray | None:
    """Conjugate gradients with the factor of another ridge λ₀; None where that is too far away.

    (G + λ₀I)⁻¹(G + λI) has eigenvalues (σ + λ)/(σ + λ₀), nearly all 1 unless many σ lie below both ridges. G itself is
    not needed: (G + λI) p = L Lᵀ p + (λ - λ₀) p.
    """

    def times(p: np.ndarray) -> np.ndarray:
        return dtrmv(L, dtrmv(L, p, lower=1, trans=1), lower=1, overwrite_x=1) + (lam - before) * p

    w = _solved(L, b)
    whole, r = b @ w, b - times(w)
    z = p = _solved(L, r)
    for _ in range(STEPS):
        if (energy := r @ z) <= NONE**2 * whole:
            return w
        q = times(p)
        step = energy / (p @ q)
        w, r = w + step * p, r - step * q
        z = _solved(L, r)
        p = z + (r @ z) / energy * p
    return None
