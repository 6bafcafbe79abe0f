"""A kernel of very many inputs whose rows of features are shared out among processes."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dntk_core.base.memory import available_bytes
from dntk_core.base.processes import local_size
from dntk_core.cache.rows import Array
from dntk_core.kernels import features, krylov
from dntk_core.kernels.features import FEW, TILE, FeatureKernel
from dntk_core.kernels.kernel import Eigenpairs
from dntk_core.kernels.krylov import leading_eigenpairs
from dntk_core.kernels.together import Together, share


@dataclass(frozen=True, eq=False)
class RankedKernel(FeatureKernel):
    """K = (1/n) Σ_c Φ^c Φ^cᵀ; every process multiplies with its own rows of Φ, and all get the result.

    Each may read any row, for a block or a cluster: features lie in a folder that all share.
    """

    together: Together

    @property
    def own(self) -> slice:
        """The rows that this process multiplies with."""
        return share(self.together, self.m)

    @cached_property
    def _held(self) -> np.ndarray | None:
        """Its own rows in memory, where they fit: each block of Lanczos takes them twice, from one disk for all."""
        n, _, k = self.features.shape
        size = n * (self.own.stop - self.own.start) * k * self.features.dtype.itemsize
        if self.together.size == 1 or size > available_bytes() / 2 / local_size():
            return None
        return np.ascontiguousarray(self.features[:, self.own])

    def times(self, V: np.ndarray) -> np.ndarray:
        return self._times(V, np.float64)

    def times_single(self, V: np.ndarray) -> np.ndarray:
        return self._times(V, np.float32)

    def _times(self, V: np.ndarray, dtype: type) -> np.ndarray:
        """K V = Φ (Σ_r Φ_rᵀ V_r): one sum over processes for all classes, then each one's rows put together."""
        mine, n = V[self.own].astype(dtype), len(self.features)
        parts = [self._sum(c, lambda rows, tile: tile.T @ mine[rows], dtype) for c in range(n)]
        out, W = np.zeros(mine.shape), self.together.sum(np.stack(parts)).astype(dtype)
        for c, w in enumerate(W):
            for rows, tile in self._tiles(c, dtype):
                out[rows] += tile @ w
        return self.together.gather(out / n)

    def cross_times(self, tests: Array, V: np.ndarray) -> np.ndarray:
        """K* V = (1/n) Σ_c Φ*^c (Σ_r Φ_r^cᵀ V_r) for features (n, t, k) of test inputs, shared out likewise: (t, q)."""
        mine, other = V[self.own], RankedKernel(tests, self.together)
        out = np.zeros((other.own.stop - other.own.start, V.shape[1]))
        for c in range(len(self.features)):
            w = self.together.sum(self._sum(c, lambda rows, tile: tile.T @ mine[rows]))
            for rows, tile in other._tiles(c):
                out[rows] += tile @ w
        return self.together.gather(out / len(self.features))

    def diagonal(self) -> np.ndarray:
        out = np.zeros(self.own.stop - self.own.start)
        for c in range(len(self.features)):
            for rows, tile in self._tiles(c):
                out[rows] += np.einsum("ik,ik->i", tile, tile)
        return self.together.gather(out / len(self.features))

    def _tiles(self, c: int, dtype: type = np.float64) -> Iterator[tuple[slice, np.ndarray]]:
        """This process's rows of class c, a few at a time: their places among its own, and the rows."""
        first, last = self.own.start, self.own.stop
        for start in range(first, last, TILE):
            rows = slice(start - first, min(start + TILE, last) - first)
            found = self.features[c][start : min(start + TILE, last)] if self._held is None else self._held[c, rows]
            yield rows, np.asarray(found, dtype=dtype)

    def _sum(self, c: int, part: Callable[[slice, np.ndarray], np.ndarray], dtype: type = np.float64) -> np.ndarray:
        """Add up in float64 what its own rows of class c give in a type; a process may have none."""
        none = part(slice(0, 0), np.zeros((0, self.features.shape[2]), dtype)).astype(np.float64)
        return sum((part(rows, tile) for rows, tile in self._tiles(c, dtype)), none)

    def _over_all(self, moment: np.ndarray) -> np.ndarray:
        return self.together.sum(moment)

    def _of_all(self, rows: np.ndarray) -> np.ndarray:
        return self.together.gather(rows)

    def restrict(self, index: np.ndarray) -> FeatureKernel:
        """Of a cluster, which one process decomposes by itself."""
        return FeatureKernel(self.features).restrict(index)

    def rotate(self, vectors: np.ndarray) -> np.ndarray:
        """VᵀΦ^c for vectors (m, g), in float32: (n, g, k)."""
        mine = vectors[self.own].astype(np.float32)
        parts = [self._sum(c, lambda rows, tile: tile.T @ mine[rows], np.float32) for c in range(len(self.features))]
        return self.together.sum(np.stack(parts)).swapaxes(1, 2).astype(np.float32)

    def second_moment(self, c: int) -> np.ndarray:
        """Φ^cᵀΦ^c, summed over all processes: (k, k)."""
        return self.together.sum(self._sum(c, lambda rows, tile: tile.T @ tile))

    def eigenpairs(self) -> Eigenpairs:
        """Few inputs or few dimensions: exactly. Else the leading pairs."""
        if self.m <= FEW:
            return FeatureKernel(self.features).eigenpairs()
        if len(self.features) * self.features.shape[2] <= min(self.m, features.FORMED):
            return self._from_moment()
        values, vectors = leading_eigenpairs(self.times_single, self.m, self.trace(), krylov.MOST)
        return Eigenpairs(values, vectors, min(self.m, len(self.features) * self.features.shape[2]))
