"""Kernels of many inputs, kept as the features they are products of: K = ΦΦᵀ is applied, never formed."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dntk_core.base.errors import DNTKError
from dntk_core.cache.rows import Array
from dntk_core.kernels import krylov
from dntk_core.kernels.kernel import DenseKernel, Eigenpairs
from dntk_core.kernels.krylov import enough, leading_eigenpairs, suffice

# Rows of features that are turned to float64 at a time where they are multiplied with each other.
TILE = 2048
# Bytes of them where they are multiplied with a few vectors, which takes half the time while they are in the cache.
CACHED = 2**22
# Up to this many inputs every eigenpair is computed.
FEW = 1024
# Up to this many it is, too, where leading ones do not suffice: a slow spectrum has nearly as many as there are inputs.
FORMED = 4096


@dataclass(frozen=True, eq=False)
class FeatureKernel:
    """K = (1/n) Σ_c Φ^c Φ^cᵀ of features (n, m, k), which may lie in a file."""

    features: Array

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

    def times_single(self, V: np.ndarray) -> np.ndarray:
        """K V in float32, as the features are: for solvers, which ask for far less than its rounding."""
        out, narrow = np.zeros(V.shape), V.astype(np.float32)
        for Phi in self.features:
            W = transposed_times(Phi, narrow, np.float32).astype(np.float32)
            for rows, tile in tiles(Phi, np.float32):
                out[rows] += tile @ W
        return out / len(self.features)

    def rows(self, index: np.ndarray) -> np.ndarray:
        return self.block(index, np.arange(self.m))

    def block(self, rows: np.ndarray, columns: np.ndarray, dtype: type = np.float64) -> np.ndarray:
        out = np.zeros((len(rows), len(columns)))
        for Phi in self.features:
            left = np.asarray(Phi[rows], dtype=dtype)
            for start in range(0, len(columns), TILE):
                part = slice(start, start + TILE)
                out[:, part] += left @ np.asarray(Phi[columns[part]], dtype=dtype).T
        return out / len(self.features)

    def diagonal(self) -> np.ndarray:
        out = np.zeros(self.m)
        for Phi in self.features:
            for rows, tile in tiles(Phi):
                out[rows] += np.einsum("ik,ik->i", tile, tile)
        return out / len(self.features)

    def trace(self) -> float:
        total = float(self.diagonal().sum())
        # Everybody asks for it first, and one number that is none makes it none.
        if not np.isfinite(total):
            raise DNTKError("the features hold numbers that are not finite; delete the run and compute it again")
        return total

    def restrict(self, index: np.ndarray) -> "FeatureKernel":
        return FeatureKernel(np.ascontiguousarray(self.features[:, index]))

    def formed(self, dtype: type = np.float64) -> DenseKernel:
        """K as an array, for few inputs; a product of features with themselves is half the work of `block`.

        Classes are multiplied in a type and added up in float64.
        """
        cast = (np.asarray(Phi, dtype=dtype) for Phi in self.features)
        return DenseKernel(sum((X @ X.T for X in cast), np.zeros((self.m, self.m))) / len(self.features))

    @cached_property
    def moment(self) -> tuple[np.ndarray, np.ndarray]:
        """Decompose ΨᵀΨ = V Σ Vᵀ, Ψ as in `side_by_side`: σ (r,), descending, V (nk, r), without what is only rounding.

        These are all eigenvalues of K = ΨΨᵀ that are not 0; its eigenvectors are u_j = Ψ v_j/√σ_j.
        """
        width = len(self.features) * self.features.shape[2]
        mine = sum((tile.T @ tile for _, tile in self.side_by_side()), np.zeros((width, width)))
        return decomposed(self._over_all(mine), self.m)

    def side_by_side(self) -> Iterator[tuple[slice, np.ndarray]]:
        """Ψ = [Φ^1 … Φ^n]/√n, (m, nk), a few of the process's own rows at a time: K = ΨΨᵀ."""
        first, last = self.own.start, self.own.stop
        for start in range(first, last, TILE):
            stop = min(start + TILE, last)
            wide = [np.asarray(Phi[start:stop], dtype=np.float64) for Phi in self.features]
            yield slice(start - first, stop - first), np.concatenate(wide, axis=1) / np.sqrt(len(wide))

    @property
    def own(self) -> slice:
        """The rows that this process multiplies with."""
        return slice(0, self.m)

    def _over_all(self, moment: np.ndarray) -> np.ndarray:
        """Sum what every process has found."""
        return moment

    def _of_all(self, rows: np.ndarray) -> np.ndarray:
        """Put the rows of all processes together."""
        return rows

    def _from_moment(self) -> Eigenpairs:
        """All pairs of one class; of several, as many as suffice."""
        values, V = self.moment
        count = len(values) if len(self.features) == 1 else enough(values)
        W, vectors = V[:, :count] / np.sqrt(values[:count]), np.empty((self.own.stop - self.own.start, count))
        for rows, tile in self.side_by_side():
            vectors[rows] = tile @ W
        return Eigenpairs(values[:count], self._of_all(vectors), len(values))

    def eigenpairs(self) -> Eigenpairs:
        """Few inputs or few dimensions: exactly. Else the leading pairs, or all where these say too little."""
        if self.m <= FEW:
            return self.formed().eigenpairs()
        width = len(self.features) * self.features.shape[2]
        if len(self.features) == 1 or width <= min(self.m, FORMED):
            return self._from_moment()
        trace, formed = self.trace(), self.formed(np.float32) if self.m <= FORMED else None
        # A product with what is formed costs next to nothing beside one with the features.
        times, most = (self.times_single, krylov.MOST) if formed is None else (formed.times, self.m // 4)
        values, vectors = leading_eigenpairs(times, self.m, trace, most)
        if formed is not None and not suffice(values, trace):
            return formed.eigenpairs()
        return Eigenpairs(values, vectors, min(self.m, width))


def decomposed(moment: np.ndarray, m: int) -> tuple[np.ndarray, np.ndarray]:
    """Decompose ΦᵀΦ (k, k) of m inputs: σ (r,), descending, and V (k, r), without what is only rounding."""
    values, V = np.linalg.eigh(moment)
    values, V = values[::-1], V[:, ::-1]
    # Features are float32: 1/√σ_j would blow up what is below their rounding.
    some = values > m * np.finfo(np.float32).eps ** 2 * values[0]
    return values[some], np.ascontiguousarray(V[:, some])


def tiles(Phi: Array, dtype: type = np.float64) -> Iterator[tuple[slice, np.ndarray]]:
    """Features (m, k) a few rows at a time, in float64 or another type: pairs of a slice and its rows."""
    step = max(CACHED // (8 * Phi.shape[1]), 1)
    for start in range(0, len(Phi), step):
        rows = slice(start, start + step)
        yield rows, np.asarray(Phi[rows], dtype=dtype)


def transposed_times(Phi: Array, V: np.ndarray, dtype: type = np.float64) -> np.ndarray:
    """Φᵀ V for Φ (m, k) and V (m,) or (m, q); tiles are multiplied in a type and added up in float64."""
    parts = (tile.T @ V[rows] for rows, tile in tiles(Phi, dtype))
    return sum(parts, np.zeros((Phi.shape[1], *V.shape[1:])))
