"""A kernel of very many inputs whose rows of features are shared out among processes."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from dntk_core.cache.rows import Array
from dntk_core.kernels import krylov
from dntk_core.kernels.features import FEW, TILE, FeatureKernel, decomposed
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

    def times(self, V: np.ndarray) -> np.ndarray:
        """K V = Φ (Σ_r Φ_rᵀ V_r): one sum over processes for all classes, then each one's rows put together."""
        mine = V[self.own]
        W = self.together.sum(
            np.stack([self._sum(Phi, lambda rows, tile: tile.T @ mine[rows]) for Phi in self.features])
        )
        out = np.zeros(mine.shape)
        for Phi, w in zip(self.features, W, strict=True):
            for rows, tile in self._tiles(Phi):
                out[rows] += tile @ w
        return self.together.gather(out / len(self.features))

    def cross_times(self, tests: Array, V: np.ndarray) -> np.ndarray:
        """K* V = (1/n) Σ_c Φ*^c (Σ_r Φ_r^cᵀ V_r) for features (n, t, k) of test inputs, shared out likewise: (t, q)."""
        mine, other = V[self.own], RankedKernel(tests, self.together)
        out = np.zeros((other.own.stop - other.own.start, V.shape[1]))
        for Phi, test in zip(self.features, tests, strict=True):
            w = self.together.sum(self._sum(Phi, lambda rows, tile: tile.T @ mine[rows]))
            for rows, tile in other._tiles(test):
                out[rows] += tile @ w
        return self.together.gather(out / len(self.features))

    def diagonal(self) -> np.ndarray:
        out = np.zeros(self.own.stop - self.own.start)
        for Phi in self.features:
            for rows, tile in self._tiles(Phi):
                out[rows] += np.einsum("ik,ik->i", tile, tile)
        return self.together.gather(out / len(self.features))

    def _tiles(self, Phi: Array) -> Iterator[tuple[slice, np.ndarray]]:
        """This process's rows of features (m, k), a few at a time: their places among its own, and the rows."""
        for start in range(self.own.start, self.own.stop, TILE):
            stop = min(start + TILE, self.own.stop)
            yield slice(start - self.own.start, stop - self.own.start), np.asarray(Phi[start:stop], dtype=np.float64)

    def _sum(self, Phi: Array, part: Callable[[slice, np.ndarray], np.ndarray]) -> np.ndarray:
        """Add up what its own rows give; a process may have none."""
        found = [part(rows, tile) for rows, tile in self._tiles(Phi)]
        return np.sum(found, axis=0) if found else part(slice(0, 0), np.zeros((0, Phi.shape[1])))

    def restrict(self, index: np.ndarray) -> FeatureKernel:
        """Of a cluster, which one process decomposes by itself."""
        return FeatureKernel(self.features).restrict(index)

    def class_moment(self, c: int) -> tuple[np.ndarray, np.ndarray]:
        """`moment` of class c: its k × k sum is taken over all processes."""
        moment = self._sum(self.features[c], lambda rows, tile: tile.T @ tile)
        return decomposed(self.together.sum(moment), self.m)

    def eigenpairs(self) -> Eigenpairs:
        """The leading eigenpairs, whatever would be cheaper alone; of few inputs all."""
        if self.m <= FEW:
            return FeatureKernel(self.features).eigenpairs()
        values, vectors = leading_eigenpairs(self.times, self.m, self.trace(), krylov.MOST)
        return Eigenpairs(values, vectors, min(self.m, len(self.features) * self.features.shape[2]))
