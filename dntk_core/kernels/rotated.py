"""Features in the eigenvectors of a decomposition, met once: what mixes eigenvectors is then a choice of rows."""

from dataclasses import dataclass

import numpy as np

from dntk_core.cache.rows import Array
from dntk_core.kernels.decomposition import Decomposition
from dntk_core.kernels.features import transposed_times


@dataclass(frozen=True)
class Rotated:
    """Rows û_iᵀΦ^c of local eigenvectors and u_jᵀΦ^c of global ones, in float32 as the features are.

    place: (n,)       where local eigenvector i of the decomposition has its row; -1 if it has none
    local: (C, q, k)  û_iᵀΦ^c
    whole: (C, g, k)  u_jᵀΦ^c for j < g
    """

    place: np.ndarray
    local: np.ndarray
    whole: np.ndarray

    def rows(self, local: np.ndarray, gaps: np.ndarray) -> np.ndarray:
        """AΦ^c, A the chosen eigenvectors, local ones first: (C, s, k)."""
        return np.concatenate([self.local[:, self.place[local]], self.whole[:, gaps]], axis=1)


def rotate_local(features: Array, parts: Decomposition, chosen: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """`place` and `local` of the chosen local eigenvectors (q,), from features (C, m, k), cluster by cluster."""
    C, _, k = features.shape
    found = np.empty((C, len(chosen), k), np.float32)
    for h in range(parts.H):
        rows, members = np.flatnonzero(parts.cluster[chosen] == h), np.flatnonzero(parts.labels == h)
        vectors = parts.local[np.ix_(members, parts.rank[chosen[rows]])].astype(np.float32)
        for c in range(C):
            found[c, rows] = transposed_times(features[c, members], vectors, np.float32).T
    place = np.full(len(parts.cluster), -1)
    place[chosen] = np.arange(len(chosen))
    return place, found


def rotate_whole(features: Array, vectors: np.ndarray) -> np.ndarray:
    """`whole` of eigenvectors (m, g), from features (C, m, k)."""
    narrow = vectors.astype(np.float32)
    return np.stack([transposed_times(Phi, narrow, np.float32).T.astype(np.float32) for Phi in features])
