"""Features in the eigenvectors of a decomposition, met once: what mixes eigenvectors is then a choice of rows."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from dntk_core.cache.rows import Array
from dntk_core.kernels.decomposition import Decomposition
from dntk_core.kernels.features import transposed_times


@dataclass(frozen=True)
class Rotated:
    """Rows û_iᵀΦ^c of local eigenvectors, in float32 as the features are, and products with each other and others.

    All may lie in files, and are read class by class.
    place: (n,)       where local eigenvector i of the decomposition has its row; -1 if it has none
    local: (C, q, k)  R^c, row by row û_iᵀΦ^c
    gram:  (C, p, p)  R^cR^cᵀ where there are at most as many rows as features, else R^cᵀR^c: p = min(q, k)
    cross: (C, q, g)  R^cW^cᵀ with the rows W^c (g, k) of global eigenvectors
    """

    place: np.ndarray
    local: Array
    gram: Array
    cross: Array

    @property
    def between_rows(self) -> bool:
        """Whether the products are those between rows."""
        return self.gram.shape[1] == self.local.shape[1]

    def choose(self, local: np.ndarray, whole: np.ndarray, gaps: np.ndarray) -> "Chosen":
        """Take rows of local eigenvectors (n,) of the decomposition, then some of those of global ones, W (C, g, k)."""
        return Chosen(self, self.place[local], whole, gaps)


@dataclass(frozen=True, eq=False)
class Chosen:
    """Rows M^c = AΦ^c of chosen eigenvectors, those of some local ones and then of some global ones.

    Iterated over, they are (s, k) of one class after the other, put together when it is their turn.
    rotated: Rotated    rows of local eigenvectors
    own:     (n,)       which of them
    whole:   (C, g, k)  rows of global eigenvectors
    gaps:    (G,)       which of them
    """

    rotated: Rotated
    own: np.ndarray
    whole: np.ndarray
    gaps: np.ndarray

    @property
    def size(self) -> int:
        """s, the number of rows."""
        return len(self.own) + len(self.gaps)

    @property
    def nbytes(self) -> int:
        # Rows to choose from are remembered by themselves.
        return self.own.nbytes + self.gaps.nbytes

    def __iter__(self) -> Iterator[np.ndarray]:
        for local, whole in zip(self.rotated.local, self.whole, strict=True):
            yield np.concatenate([local[self.own], whole[self.gaps]])

    def product(self, c: int) -> np.ndarray:
        """M^cM^cᵀ (s, s), of more rows than features M^cᵀM^c (k, k)."""
        width = min(self.size, self.whole.shape[2])
        found, more = np.empty((width, width)), np.asarray(self.whole[c, self.gaps], np.float64)
        (self._between_rows if width == self.size else self._between_features)(c, more, found)
        return found

    def _between_rows(self, c: int, more: np.ndarray, found: np.ndarray) -> None:
        """M Mᵀ."""
        own, n, rows = self.own, len(self.own), self.rotated.local[c]
        if self.rotated.between_rows:
            G = np.asarray(self.rotated.gram[c])
            found[:n, :n] = G if n == len(rows) else G[np.ix_(own, own)]
        else:
            found[:n, :n] = grams(rows[own])
        if len(more):
            found[:n, n:] = self.rotated.cross[c][own][:, self.gaps]
            found[n:, :n] = found[:n, n:].T
            found[n:, n:] = more @ more.T

    def _between_features(self, c: int, more: np.ndarray, found: np.ndarray) -> None:
        """MᵀM: that of all local rows, less that of the others, and of more."""
        rows = self.rotated.local[c]
        if self.rotated.between_rows:
            found[:] = grams(rows[self.own].T)
        else:
            found[:] = self.rotated.gram[c]
            if len(other := np.setdiff1d(np.arange(len(rows)), self.own)):
                found -= grams(rows[other].T)
        if len(more):
            found += more.T @ more


@dataclass(frozen=True, eq=False)
class Products:
    """Products of chosen rows with each other, (C, p, p), p = min(s, k): made when they are asked for."""

    chosen: Chosen

    @property
    def shape(self) -> tuple[int, int, int]:
        C, _, k = self.chosen.whole.shape
        width = min(self.chosen.size, k)
        return C, width, width

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, c: int) -> np.ndarray:
        return self.chosen.product(c)

    def __iter__(self) -> Iterator[np.ndarray]:
        return map(self.chosen.product, range(len(self)))

    def __array__(self, dtype: type | None = None, copy: bool | None = None) -> np.ndarray:
        return np.stack([*self]).astype(dtype or np.float64, copy=False)


def grams(rows: np.ndarray) -> np.ndarray:
    """M Mᵀ of rows (s, k), in float64: (s, s)."""
    wide = np.asarray(rows, np.float64)
    return wide @ wide.T


def rotated(place: np.ndarray, local: np.ndarray, whole: np.ndarray) -> Rotated:
    """Rows (C, q, k) with their products, also with rows W (C, g, k)."""
    return Rotated(place, local, within(local), between(local, whole))


def within(local: np.ndarray) -> np.ndarray:
    """Products of rows (C, q, k) as in `Rotated`: (C, p, p)."""
    _, q, k = local.shape
    return np.stack([grams(rows if q <= k else rows.T) for rows in local])


def between(local: np.ndarray, whole: np.ndarray) -> np.ndarray:
    """R^cW^cᵀ of rows (C, q, k), (C, g, k), in float64: (C, q, g)."""
    return np.stack([R.astype(np.float64) @ W.T.astype(np.float64) for R, W in zip(local, whole, strict=True)])


def places(parts: Decomposition, share: float) -> tuple[np.ndarray, np.ndarray]:
    """The local eigenvectors that hold a share of every cluster's variance (q,), and where each has its row (n,)."""
    chosen = np.flatnonzero(parts.leading(1.0 - share))
    place = np.full(len(parts.cluster), -1)
    place[chosen] = np.arange(len(chosen))
    return chosen, place


def rotate_local(features: Array, parts: Decomposition, share: float, whole: np.ndarray) -> Rotated:
    """Meet features (C, m, k) with the local eigenvectors that hold a share of the variance, cluster by cluster.

    whole: (C, g, k)  the rows of global ones
    """
    chosen, place = places(parts, share)
    found = np.empty((len(features), len(chosen), features.shape[2]), np.float32)
    for rows, members, vectors in parts.within(chosen):
        found[:, rows] = rotate(features, members, vectors)
    return rotated(place, found, whole)


def rotate(features: Array, members: np.ndarray | None, vectors: np.ndarray) -> np.ndarray:
    """VᵀΦ^c of some inputs (n,), or of all, for vectors (n, r), from features (C, m, k): (C, r, k)."""
    narrow = np.asarray(vectors, np.float32)
    some = (Phi if members is None else Phi[members] for Phi in features)
    return np.stack([transposed_times(Phi, narrow, np.float32).T.astype(np.float32) for Phi in some])
