"""The full readout of one class in the eigenvectors u_j of its kernel, whether it is an array or kept as features.

K = Σ_j σ_j u_j u_jᵀ and y = Σ_j b_j u_j + y_⊥ give the readout α = Σ_j b_j/(σ_j + λ) u_j + y_⊥/λ, f = K* α.
"""

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from dntk_core.cache.rows import Array
from dntk_core.kernels.features import tiles, transposed_times
from dntk_core.kernels.spectrum import Spectrum


class Modes(Protocol):
    """One class in its eigenvectors; those of eigenvalue 0 are left out where the kernel is kept as features.

    values:  (r,)  σ_j, descending; all others are 0
    load:    (r,)  b_j = u_jᵀ y
    outside: (m,)  y_⊥, what of the targets no eigenvector holds
    """

    @property
    def values(self) -> np.ndarray: ...
    @property
    def load(self) -> np.ndarray: ...
    @property
    def outside(self) -> np.ndarray: ...

    def predict(self, c: np.ndarray) -> np.ndarray:
        """Σ_j c_j K* u_j for coefficients (r, q): (t, q)."""
        ...

    def combine(self, c: np.ndarray) -> np.ndarray:
        """Σ_j c_j u_j for coefficients (r, q): (m, q)."""
        ...

    def weigh(self, w: np.ndarray) -> np.ndarray:
        """Σ_j w_j u_ij² for weights (r, q): (m, q)."""
        ...

    def solve_tests(self, index: np.ndarray, lam: float) -> np.ndarray:
        """(K + λI)⁻¹ k* of some test inputs: (q, m)."""
        ...

    def weigh_tests(self, w: np.ndarray) -> np.ndarray:
        """Σ_j w_j (k*ᵀ u_j)² for weights (r, q): (t, q)."""
        ...


@dataclass(frozen=True, eq=False)
class DenseModes:
    """Of a kernel whose eigenvectors U (m, m) and cross kernel K* (t, m) are at hand."""

    values: np.ndarray
    load: np.ndarray
    outside: np.ndarray
    vectors: np.ndarray
    cross: np.ndarray

    @property
    def nbytes(self) -> int:
        return self.values.nbytes + self.vectors.nbytes

    def predict(self, c: np.ndarray) -> np.ndarray:
        return self.cross @ (self.vectors @ c)

    def combine(self, c: np.ndarray) -> np.ndarray:
        return self.vectors @ c

    def weigh(self, w: np.ndarray) -> np.ndarray:
        return self.vectors**2 @ w

    def solve_tests(self, index: np.ndarray, lam: float) -> np.ndarray:
        return (self.cross[index] @ self.vectors / (self.values + lam)) @ self.vectors.T

    def weigh_tests(self, w: np.ndarray) -> np.ndarray:
        return np.concatenate([(tile @ self.vectors) ** 2 @ w for _, tile in tiles(self.cross)])


@dataclass(frozen=True, eq=False)
class FeatureModes:
    """Of features Φ (m, k), Φ* (t, k) with ΦᵀΦ = V Σ Vᵀ: u_j = Φ v_j/√σ_j, K* u_j = √σ_j Φ* v_j; basis V (k, r)."""

    values: np.ndarray
    load: np.ndarray
    outside: np.ndarray
    basis: np.ndarray
    features: Array
    test_features: Array

    @property
    def nbytes(self) -> int:
        # The basis is the kernel's own, which holds it for every readout.
        return self.outside.nbytes + self.load.nbytes

    def predict(self, c: np.ndarray) -> np.ndarray:
        W = self.basis @ (np.sqrt(self.values)[:, None] * c)
        return np.concatenate([tile @ W for _, tile in tiles(self.test_features)])

    def combine(self, c: np.ndarray) -> np.ndarray:
        W = self.basis @ (c.T / np.sqrt(self.values)).T
        return np.concatenate([tile @ W for _, tile in tiles(self.features)])

    def weigh(self, w: np.ndarray) -> np.ndarray:
        W = self.basis / np.sqrt(self.values)
        return np.concatenate([(tile @ W) ** 2 @ w for _, tile in tiles(self.features)])

    def solve_tests(self, index: np.ndarray, lam: float) -> np.ndarray:
        """Φ (ΦᵀΦ + λI)⁻¹ φ*: what ΦᵀΦ has no eigenvalue for, Φ does not see."""
        coordinates = np.asarray(self.test_features[index], dtype=np.float64) @ self.basis
        W = self.basis @ (coordinates / (self.values + lam)).T
        return np.concatenate([tile @ W for _, tile in tiles(self.features)]).T

    def weigh_tests(self, w: np.ndarray) -> np.ndarray:
        weights = self.values[:, None] * w
        return np.concatenate([(tile @ self.basis) ** 2 @ weights for _, tile in tiles(self.test_features)])


def dense_modes(spectrum: Spectrum, cross: np.ndarray, y: np.ndarray) -> DenseModes:
    """The modes of an array; cross (t, m), y (m,)."""
    return DenseModes(spectrum.values, spectrum.vectors.T @ y, np.zeros(len(y)), spectrum.vectors, cross)


def feature_modes(
    features: Array, test_features: Array, moment: tuple[np.ndarray, np.ndarray], y: np.ndarray
) -> FeatureModes:
    """The modes of features (m, k), (t, k) whose second moment is decomposed, b_j = v_jᵀΦᵀy/√σ_j; y (m,)."""
    values, V = moment
    load = V.T @ transposed_times(features, y) / np.sqrt(values)
    bare = FeatureModes(values, load, y, V, features, test_features)
    return FeatureModes(values, load, y - bare.combine(load), V, features, test_features)
