"""Kernels of many inputs, kept as the features they are products of: K = ΦΦᵀ is applied, never formed.

They answer to what code for dense kernels asks of an array: len, shape, K @ V, rows, means, sums, the diagonal.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

# Rows of features that are turned to float64 at a time.
TILE = 2048


@dataclass(frozen=True, eq=False)
class Gram:
    """K = (1/n) Σ_c Φ^c Φ^cᵀ, (m, m), of features (n, m, k), which may be memory-mapped."""

    features: np.ndarray

    # NumPy leaves V @ K to __rmatmul__.
    __array_ufunc__ = None

    @property
    def shape(self) -> tuple[int, int]:
        return self.features.shape[1], self.features.shape[1]

    def __len__(self) -> int:
        return self.features.shape[1]

    def __matmul__(self, V: np.ndarray) -> np.ndarray:
        """K V for V (m,) or (m, q), in float64."""
        return self.apply(V, np.float64)

    def __rmatmul__(self, V: np.ndarray) -> np.ndarray:
        return (self @ V.T).T

    def apply(self, V: np.ndarray, dtype: type) -> np.ndarray:
        """K V with products of a given precision."""
        V = V.astype(dtype, copy=False)
        out = np.zeros(V.shape, dtype=dtype)
        for Phi in self.features:
            W = transposed_times(Phi, V)
            for rows, tile in tiles(Phi, dtype):
                out[rows] += tile @ W
        return out / dtype(len(self.features))

    def __getitem__(self, index) -> np.ndarray:
        """Row K[i], (m,), or column K[:, i], which is the same."""
        i = index[1] if isinstance(index, tuple) else index
        unit = np.zeros(len(self))
        unit[i] = 1.0
        return self @ unit

    def diagonal(self) -> np.ndarray:
        """K_ii, (m,)."""
        out = np.zeros(len(self))
        for Phi in self.features:
            for rows, tile in tiles(Phi):
                out[rows] += np.einsum("ik,ik->i", tile, tile)
        return out / len(self.features)

    def trace(self) -> float:
        return float(self.diagonal().sum())

    def mean(self, axis: int) -> np.ndarray:
        """Mean of every row, (m,)."""
        return self @ np.full(len(self), 1.0 / len(self))

    def sum(self) -> float:
        return float(len(self) * self.mean(axis=1).sum())


@dataclass(frozen=True, eq=False)
class Cross:
    """K* = Φ* Φᵀ, (t, m), of test features (t, k) and features (m, k)."""

    test_features: np.ndarray
    features: np.ndarray

    def __matmul__(self, V: np.ndarray) -> np.ndarray:
        """K* V for V (m,) or (m, q)."""
        W = transposed_times(self.features, V)
        return np.concatenate([tile @ W for _, tile in tiles(self.test_features)])


@dataclass(frozen=True, eq=False)
class Grams:
    """The class kernels K^c, (C, m, m), as Gram matrices of features (C, m, k)."""

    features: np.ndarray
    ndim = 3

    @property
    def shape(self) -> tuple[int, int, int]:
        C, m, _ = self.features.shape
        return C, m, m

    def __len__(self) -> int:
        return len(self.features)

    def __getitem__(self, c: int) -> Gram:
        if not 0 <= c < len(self):
            raise IndexError(c)
        return Gram(self.features[c : c + 1])

    def mean(self, axis: int) -> Gram:
        """K̄."""
        return Gram(self.features)

    @cached_property
    def modes(self) -> tuple[tuple[np.ndarray, np.ndarray], ...]:
        """Per class Σ (k,), descending, and V (k, k) of ΦᵀΦ = V Σ Vᵀ: all of K^c's eigenvalues that are not 0."""
        found = (np.linalg.eigh(second_moment(Phi)) for Phi in self.features)
        return tuple((np.clip(values[::-1], 0.0, None), vectors[:, ::-1]) for values, vectors in found)

    def solve(self, targets: np.ndarray, lam: float) -> np.ndarray:
        """α^c = (K^c + λI)⁻¹ y_c in k dimensions: α = (y - Φw)/λ, w = V (Σ + λI)⁻¹ Vᵀ Φᵀy; targets (m, C): (C, m)."""
        alpha = np.empty((len(self), len(targets)))
        for a, Phi, (values, V), y in zip(alpha, self.features, self.modes, targets.T, strict=True):
            w = V @ (V.T @ transposed_times(Phi, y) / (values + lam))
            for rows, tile in tiles(Phi):
                a[rows] = (y[rows] - tile @ w) / lam
        return alpha


@dataclass(frozen=True, eq=False)
class Crosses:
    """The class cross kernels K*^c, (C, t, m)."""

    test_features: np.ndarray
    features: np.ndarray
    ndim = 3

    @property
    def shape(self) -> tuple[int, int, int]:
        return len(self), self.test_features.shape[1], self.features.shape[1]

    def __len__(self) -> int:
        return len(self.features)

    def __getitem__(self, c: int) -> Cross:
        if not 0 <= c < len(self):
            raise IndexError(c)
        return Cross(self.test_features[c], self.features[c])

    def __matmul__(self, V: np.ndarray) -> np.ndarray:
        """K*^c V^c for V (C, m, q): (C, t, q)."""
        return np.stack([cross @ v for cross, v in zip(self, V, strict=True)])


def tiles(Phi: np.ndarray, dtype: type = np.float64):
    """Features (m, k) a few rows at a time: pairs of a slice and its rows."""
    for start in range(0, len(Phi), TILE):
        rows = slice(start, start + TILE)
        yield rows, np.asarray(Phi[rows], dtype=dtype)


def transposed_times(Phi: np.ndarray, V: np.ndarray) -> np.ndarray:
    """Φᵀ V for Φ (m, k) and V (m,) or (m, q)."""
    return sum(tile.T @ V[rows] for rows, tile in tiles(Phi, V.dtype.type))


def second_moment(Phi: np.ndarray) -> np.ndarray:
    """Φᵀ Φ, (k, k)."""
    return sum(tile.T @ tile for _, tile in tiles(Phi))
