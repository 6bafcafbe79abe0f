"""Gradients of margins, without back-propagation: ∇ Σ_c w_c f^c(x) = Σ_c w_c φ^c(x), from cached features."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from dntk_core.cache.rows import Array
from dntk_core.distill.mixing import Mixing
from dntk_core.kernels.features import TILE
from dntk_core.readout.probabilities import softmax
from dntk_core.uses.goals import margins

# Of TRAK, in units of the mean squared gradient.
TRAK_RIDGE = 1.0


@dataclass(frozen=True, eq=False)
class Tangents:
    """Gradients of the margins of m kernel inputs, and of whatever is asked of t test inputs.

    train:         (m, k)     of the label's margin, float32
    doubt:         (m,)       1 - p_i, p_i the network's probability of the label: TRAK's Q
    test_features: (C, t, k)  φ*^c
    ridge:         of TRAK
    mixing:        distilled gradients AΦ that TRAK's matrix is made of in the place of Φ, or None
    """

    train: np.ndarray
    doubt: np.ndarray
    test_features: Array
    ridge: float = TRAK_RIDGE
    mixing: Mixing | None = None

    @property
    def nbytes(self) -> int:
        """What is held in memory: features stay on disk, and those who distil share the gradients."""
        own = min(self.train.shape) ** 2 * 8 + self.train.nbytes
        return own if self.mixing is None else len(self.mixing.matrix) ** 2 * 8

    @cached_property
    def norms(self) -> np.ndarray:
        """‖φ(x_i)‖, (m,)."""
        return np.linalg.norm(self.train, axis=1).astype(np.float64)

    def tests(self, index: np.ndarray, goals: np.ndarray) -> np.ndarray:
        """Σ_c w_c φ*^c of some test inputs (q,), goals (q, C): (q, k)."""
        return mixed(self.test_features, index, goals)

    def products(self, index: np.ndarray, goals: np.ndarray) -> np.ndarray:
        """φ*ᵀ φ(x_i): (q, m)."""
        return (self.train @ self.tests(index, goals).astype(np.float32).T).T.astype(np.float64)

    def weights(self, index: np.ndarray, goals: np.ndarray) -> np.ndarray:
        """φ*ᵀ (ΦᵀΦ + λI)⁻¹ Φᵀ = φ*ᵀ Φᵀ (ΦΦᵀ + λI)⁻¹, whichever is smaller: (q, m).

        Distilled: φ*ᵀ Φᵀ Aᵀ (AΦΦᵀAᵀ + λI)⁻¹ A.
        """
        if self.mixing is not None:
            A = self.mixing.matrix
            return cho_solve(self._factor, A @ self.products(index, goals).T).T @ A
        if self._wide:
            return cho_solve(self._factor, self.products(index, goals).T).T
        return (self.train @ cho_solve(self._factor, self.tests(index, goals).T).astype(np.float32)).T

    @property
    def lam(self) -> float:
        """TRAK's regulariser in the units of the gradients."""
        return self.ridge * float(np.mean(self.norms**2))

    @property
    def _wide(self) -> bool:
        return self.train.shape[0] <= self.train.shape[1]

    @cached_property
    def _factor(self) -> tuple[np.ndarray, bool]:
        if self.mixing is not None:
            half = np.asarray(self.mixing.matrix @ self.train, dtype=np.float64)
            gram = half @ half.T
        else:
            whole = self.train.astype(np.float64)
            gram = whole @ whole.T if self._wide else whole.T @ whole
        return cho_factor(gram + self.lam * np.eye(len(gram)), overwrite_a=True)


def mixed(features: Array, index: np.ndarray, goals: np.ndarray) -> np.ndarray:
    """Σ_c w_c φ^c of some inputs (q,) of features (C, n, k), weights (q, C): (q, k)."""
    total = np.zeros((len(index), features.shape[2]))
    for Phi, w in zip(features, goals.T, strict=True):
        rows = np.flatnonzero(w)
        if len(rows):
            total[rows] += w[rows, None] * np.asarray(Phi[index[rows]], dtype=np.float64)
    return total


def tangents(
    features: Array, test_features: Array, logits: np.ndarray, labels: np.ndarray, ridge: float = TRAK_RIDGE
) -> Tangents:
    """Take the margins' gradients of features (C, m, k), whose network says logits (m, C) and whose labels are (m,)."""
    goals, m = margins(logits, labels), len(labels)
    train = np.empty((m, features.shape[2]), np.float32)
    for start in range(0, m, TILE):
        rows = np.arange(start, min(start + TILE, m))
        train[rows] = mixed(features, rows, goals[rows])
    return Tangents(train, 1.0 - softmax(logits)[np.arange(m), labels], test_features, ridge)
