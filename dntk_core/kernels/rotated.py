"""Features in the eigenvectors of a decomposition, met once: what mixes eigenvectors is then a choice of rows."""

from dataclasses import dataclass

import numpy as np

from dntk_core.cache.rows import Array
from dntk_core.kernels.decomposition import Decomposition
from dntk_core.kernels.features import transposed_times


@dataclass(frozen=True)
class Rotated:
    """Rows û_iᵀΦ^c of local eigenvectors, in float32 as the features are, and their products with each other.

    place: (n,)       where local eigenvector i of the decomposition has its row; -1 if it has none
    local: (C, q, k)  R^c, row by row û_iᵀΦ^c
    gram:  (C, p, p)  R^cR^cᵀ where there are at most as many rows as features, else R^cᵀR^c: p = min(q, k)
    """

    place: np.ndarray
    local: np.ndarray
    gram: np.ndarray

    def rows(self, local: np.ndarray, whole: np.ndarray) -> np.ndarray:
        """AΦ^c, A the chosen eigenvectors, local ones first, then rows (C, G, k) of global ones: (C, s, k)."""
        return np.concatenate([self.local[:, self.place[local]], whole], axis=1)

    def products(self, local: np.ndarray, whole: np.ndarray) -> np.ndarray:
        """Products of `rows` M^c with each other: M^cM^cᵀ (C, s, s), of more rows than features M^cᵀM^c (C, k, k)."""
        k = self.local.shape[2]
        own, s = self.place[local], len(local) + whole.shape[1]
        within = self._between_rows if s <= k else self._between_features
        found = np.empty((len(self.local), min(s, k), min(s, k)))
        for c, more in enumerate(whole):
            within(c, own, np.asarray(more, np.float64), found[c])
        return found

    def _between_rows(self, c: int, own: np.ndarray, more: np.ndarray, found: np.ndarray) -> None:
        """M Mᵀ of some local rows and more."""
        n, rows, G = len(own), self.local[c], self.gram[c]
        if len(G) == len(rows):
            found[:n, :n] = G if n == len(rows) else G[np.ix_(own, own)]
        else:
            found[:n, :n] = grams(rows[own])
        if len(more):
            found[n:, :n] = more @ np.asarray(rows[own], np.float64).T
            found[:n, n:] = found[n:, :n].T
            found[n:, n:] = more @ more.T

    def _between_features(self, c: int, own: np.ndarray, more: np.ndarray, found: np.ndarray) -> None:
        """MᵀM of some local rows and more: that of all rows, less that of the others."""
        rows, G = self.local[c], self.gram[c]
        if len(G) == len(rows):
            found[:] = grams(rows[own].T)
        else:
            found[:] = G
            if len(other := np.setdiff1d(np.arange(len(rows)), own)):
                found -= grams(rows[other].T)
        if len(more):
            found += more.T @ more


def grams(rows: np.ndarray) -> np.ndarray:
    """M Mᵀ of rows (s, k), in float64: (s, s)."""
    wide = np.asarray(rows, np.float64)
    return wide @ wide.T


def rotated(place: np.ndarray, local: np.ndarray) -> Rotated:
    """Rows (C, q, k) with their products."""
    _, q, k = local.shape
    return Rotated(place, local, np.stack([grams(rows if q <= k else rows.T) for rows in local]))


def places(parts: Decomposition, share: float) -> tuple[np.ndarray, np.ndarray]:
    """The local eigenvectors that hold a share of every cluster's variance (q,), and where each has its row (n,)."""
    chosen = np.flatnonzero(parts.leading(1.0 - share))
    place = np.full(len(parts.cluster), -1)
    place[chosen] = np.arange(len(chosen))
    return chosen, place


def rotate_local(features: Array, parts: Decomposition, share: float) -> Rotated:
    """Meet features (C, m, k) with the local eigenvectors that hold a share of the variance, cluster by cluster."""
    chosen, place = places(parts, share)
    found = np.empty((len(features), len(chosen), features.shape[2]), np.float32)
    for h in range(parts.H):
        rows, members = np.flatnonzero(parts.cluster[chosen] == h), np.flatnonzero(parts.labels == h)
        found[:, rows] = rotate(features, members, parts.local[np.ix_(members, parts.rank[chosen[rows]])])
    return rotated(place, found)


def rotate(features: Array, members: np.ndarray | None, vectors: np.ndarray) -> np.ndarray:
    """VᵀΦ^c of some inputs (n,), or of all, for vectors (n, r), from features (C, m, k): (C, r, k)."""
    narrow = np.asarray(vectors, np.float32)
    some = (Phi if members is None else Phi[members] for Phi in features)
    return np.stack([transposed_times(Phi, narrow, np.float32).T.astype(np.float32) for Phi in some])
