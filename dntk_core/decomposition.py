"""A kernel's eigenvectors seen whole and cluster by cluster."""

from dataclasses import dataclass

import numpy as np

from dntk_core.errors import DNTKError
from dntk_core.spectrum import Spectrum, spectrum, truncation_rank


@dataclass(frozen=True)
class Decomposition:
    """Global and lifted local eigenvectors of a kernel K with H clusters I_1 … I_H.

    whole:   Spectrum  K = U Σ Uᵀ
    labels:  (m,)      cluster of each input
    cluster: (m,)      cluster h of local eigenvector i; ascending
    rank:    (m,)      its place within its cluster, 0 = largest eigenvalue
    values:  (m,)      its eigenvalue in K_h = K[I_h, I_h]
    lifted:  (m, m)    column i = û_i, the local eigenvector padded with zeros; an orthogonal matrix
    overlap: (m, m)    ⟨û_i, u_j⟩; its rows of one cluster are u_j restricted to it, in local coordinates
    """

    whole: Spectrum
    labels: np.ndarray
    cluster: np.ndarray
    rank: np.ndarray
    values: np.ndarray
    lifted: np.ndarray
    overlap: np.ndarray

    @property
    def H(self) -> int:
        return int(self.cluster[-1]) + 1

    @property
    def starts(self) -> np.ndarray:
        """First row of each cluster, (H,)."""
        return np.flatnonzero(self.rank == 0)

    def per_cluster(self, rows: np.ndarray) -> np.ndarray:
        """Sum an array (m, …) over the rows of each cluster: (H, …)."""
        return np.add.reduceat(rows, self.starts, axis=0)

    def local_ranks(self, epsilon: float) -> np.ndarray:
        """Return r_h, the truncation rank of each local kernel: (H,)."""
        return np.array([truncation_rank(v, epsilon) for v in np.split(self.values, self.starts[1:])])

    def leading(self, epsilon: float) -> np.ndarray:
        """Mark the local eigenvectors within their cluster's truncation rank: (m,) bool."""
        return self.rank < self.local_ranks(epsilon)[self.cluster]


def decompose(kernel: np.ndarray, labels: np.ndarray, whole: Spectrum | None = None) -> Decomposition:
    """Decompose a kernel (m, m) as a whole, unless given, and within each cluster of labels (m,)."""
    m = len(kernel)
    labels = np.asarray(labels)
    if labels.shape != (m,) or not np.array_equal(np.unique(labels), np.arange(labels.max(initial=0) + 1)):
        raise DNTKError(f"labels must be ({m},) integers 0..H-1 with no cluster empty, got shape {labels.shape}")
    whole = spectrum(kernel) if whole is None else whole
    values, lifted, overlap = np.empty(m), np.zeros((m, m)), np.empty((m, m))
    start = 0
    for h in range(labels.max() + 1):
        members = np.flatnonzero(labels == h)
        local = spectrum(kernel[np.ix_(members, members)])
        rows = slice(start, start + len(members))
        values[rows] = local.values
        lifted[members, rows] = local.vectors
        overlap[rows] = local.vectors.T @ whole.vectors[members]
        start = rows.stop
    cluster = np.sort(labels)
    rank = np.arange(m) - np.searchsorted(cluster, cluster)
    return Decomposition(whole, labels, cluster, rank, values, lifted, overlap)
