"""Kernels of many inputs, kept as the features they are products of: K = ΦΦᵀ is applied, never formed."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dntk_core.kernels.kernel import DenseKernel, Eigenpairs
from dntk_core.kernels.krylov import leading_eigenpairs

# Rows of features that are turned to float64 at a time.
TILE = 2048
# Up to this many inputs, or features in all, every eigenpair is computed.
EXACT = 1024


@dataclass(frozen=True, eq=False)
class FeatureKernel:
    """K = (1/n) Σ_c Φ^c Φ^cᵀ of features (n, m, k), which may be memory-mapped."""

    features: np.ndarray

    @property
    def m(self) -> int:
        return self.features.shape[1]

    def times(self, V: np.ndarray) -> np.ndarray:
        out = np.zeros(V.shape)
        for Phi in self.features:
            W = transposed_times(Phi, V)
            for rows, tile in tiles(Phi):
                out[rows] += tile @ W
        return out / len(self.features)

    def rows(self, index: np.ndarray) -> np.ndarray:
        return self.block(index, np.arange(self.m))

    def block(self, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        out = np.zeros((len(rows), len(columns)))
        for Phi in self.features:
            left = np.asarray(Phi[rows], dtype=np.float64)
            for start in range(0, len(columns), TILE):
                part = slice(start, start + TILE)
                out[:, part] += left @ np.asarray(Phi[columns[part]], dtype=np.float64).T
        return out / len(self.features)

    def diagonal(self) -> np.ndarray:
        out = np.zeros(self.m)
        for Phi in self.features:
            for rows, tile in tiles(Phi):
                out[rows] += np.einsum("ik,ik->i", tile, tile)
        return out / len(self.features)

    def trace(self) -> float:
        return float(self.diagonal().sum())

    def restrict(self, index: np.ndarray) -> "FeatureKernel":
        return FeatureKernel(np.ascontiguousarray(self.features[:, index]))

    @cached_property
    def moment(self) -> tuple[np.ndarray, np.ndarray]:
        """Of one class, decompose ΦᵀΦ = V Σ Vᵀ: σ (r,), descending, and V (k, r), without what is only rounding.

        These are all eigenvalues of ΦΦᵀ that are not 0; its eigenvectors are u_j = Φ v_j/√σ_j.
        """
        (Phi,) = self.features
        values, V = np.linalg.eigh(sum(tile.T @ tile for _, tile in tiles(Phi)))
        values, V = values[::-1], V[:, ::-1]
        # Features are float32: 1/√σ_j would blow up what is below their rounding.
        some = values > self.m * np.finfo(np.float32).eps ** 2 * values[0]
        return values[some], np.ascontiguousarray(V[:, some])

    def eigenpairs(self) -> Eigenpairs:
        """Few inputs, or one class: all pairs, exactly. Many inputs and classes: the leading ones."""
        everything = np.arange(self.m)
        if self.m <= EXACT:
            # Both halves of the block differ in the last bit; eigh reads one of them.
            return DenseKernel(self.block(everything, everything)).eigenpairs()
        if len(self.features) == 1:
            values, V = self.moment
            vectors = np.concatenate([tile @ (V / np.sqrt(values)) for _, tile in tiles(self.features[0])])
            return Eigenpairs(values, vectors, len(values))
        values, vectors = leading_eigenpairs(self.times, self.m, self.trace())
        return Eigenpairs(values, vectors, min(self.m, len(self.features) * self.features.shape[2]))


def tiles(Phi: np.ndarray) -> Iterator[tuple[slice, np.ndarray]]:
    """Features (m, k) a few rows at a time, in float64: pairs of a slice and its rows."""
    for start in range(0, len(Phi), TILE):
        rows = slice(start, start + TILE)
        yield rows, np.asarray(Phi[rows], dtype=np.float64)


def transposed_times(Phi: np.ndarray, V: np.ndarray) -> np.ndarray:
    """Φᵀ V for Φ (m, k) and V (m,) or (m, q)."""
    return sum((tile.T @ V[rows] for rows, tile in tiles(Phi)), np.zeros((Phi.shape[1], *V.shape[1:])))
