"""A kernel's eigenvectors seen whole and cluster by cluster."""

from dataclasses import dataclass

import numpy as np

from dntk_core.base.errors import DNTKError
from dntk_core.kernels.gram import Gram
from dntk_core.kernels.spectrum import Spectrum, spectrum, truncation_rank


@dataclass(frozen=True)
class Decomposition:
    """Global and lifted local eigenvectors of a kernel K with H clusters I_1 … I_H.

    whole:   Spectrum  K = U Σ Uᵀ
    labels:  (m,)      cluster of each input
    cluster: (q,)      cluster h of local eigenvector i; ascending
    rank:    (q,)      its place within its cluster, 0 = largest eigenvalue
    values:  (q,)      its eigenvalue in K_h = K[I_h, I_h]
    missing: (H,)      tr K_h less the eigenvalues above; 0 for a dense kernel
    local:   (m, w)    entry (x, j) = that of input x in the j-th local eigenvector of its cluster, 0 beyond the last
    overlap: (q, L)    ⟨û_i, u_j⟩; its rows of one cluster are u_j restricted to it, in local coordinates

    Of a dense kernel q = L = m. Of one kept as features, K is replaced by its L leading eigenpairs.
    """

    whole: Spectrum
    labels: np.ndarray
    cluster: np.ndarray
    rank: np.ndarray
    values: np.ndarray
    missing: np.ndarray
    local: np.ndarray
    overlap: np.ndarray

    @property
    def H(self) -> int:
        return int(self.cluster[-1]) + 1

    @property
    def starts(self) -> np.ndarray:
        """First row of each cluster, (H,)."""
        return np.flatnonzero(self.rank == 0)

    def lift(self, chosen: np.ndarray) -> np.ndarray:
        """Pad local eigenvectors with zeros: column i is û of chosen[i], (m, n)."""
        inside = self.labels[:, None] == self.cluster[chosen]
        return np.where(inside, self.local[:, self.rank[chosen]], 0.0)

    def global_rank(self, epsilon: float) -> int:
        """Return r_g, the truncation rank of K, or L where that is less."""
        return min(truncation_rank(self.whole.values, epsilon), self.whole.vectors.shape[1])

    def per_cluster(self, rows: np.ndarray) -> np.ndarray:
        """Sum an array (m, …) over the rows of each cluster: (H, …)."""
        return np.add.reduceat(rows, self.starts, axis=0)

    def local_ranks(self, epsilon: float) -> np.ndarray:
        """Return r_h, the truncation rank of each local kernel: (H,)."""
        sizes, ranks = np.bincount(self.labels), []
        for v, missing, size in zip(np.split(self.values, self.starts[1:]), self.missing, sizes, strict=True):
            beyond = size - len(v)
            tail = np.full(beyond, min(missing / max(beyond, 1), v[-1]))
            ranks.append(min(truncation_rank(np.append(v, tail), epsilon), len(v)))
        return np.array(ranks)

    def leading(self, epsilon: float) -> np.ndarray:
        """Mark the local eigenvectors within their cluster's truncation rank: (q,) bool."""
        return self.rank < self.local_ranks(epsilon)[self.cluster]


def decompose(kernel: np.ndarray | Gram, labels: np.ndarray, whole: Spectrum | None = None) -> Decomposition:
    """Decompose a kernel (m, m) as a whole, unless given, and within each cluster of labels (m,)."""
    m = len(kernel)
    labels = np.asarray(labels)
    if labels.shape != (m,) or not np.array_equal(np.unique(labels), np.arange(labels.max(initial=0) + 1)):
        raise DNTKError(f"labels must be ({m},) integers 0..H-1 with no cluster empty, got shape {labels.shape}")
    whole = spectrum(kernel) if whole is None else whole
    groups = [np.flatnonzero(labels == h) for h in range(labels.max() + 1)]
    if isinstance(kernel, Gram):
        Z, diagonal = whole.vectors * np.sqrt(whole.leading), kernel.diagonal()
        parts = [factor_spectrum(Z[members]) for members in groups]
        missing = [diagonal[I].sum() - part.values.sum() for I, part in zip(groups, parts, strict=True)]
    else:
        parts = [spectrum(kernel[np.ix_(members, members)]) for members in groups]
        missing = np.zeros(len(groups))
    counts = [len(part.values) for part in parts]
    local = np.zeros((m, max(counts)))
    for members, part in zip(groups, parts, strict=True):
        local[members, : len(part.values)] = part.vectors
    overlap = [part.vectors.T @ whole.vectors[members] for members, part in zip(groups, parts, strict=True)]
    cluster = np.repeat(np.arange(len(groups)), counts)
    rank = np.concatenate([np.arange(count) for count in counts])
    values = np.concatenate([part.values for part in parts])
    return Decomposition(
        whole, labels, cluster, rank, values, np.clip(missing, 0.0, None), local, np.concatenate(overlap)
    )


def factor_spectrum(Z: np.ndarray) -> Spectrum:
    """Decompose Z Zᵀ for Z (n, L): its min(n, L) eigenpairs."""
    U, singular, _ = np.linalg.svd(Z, full_matrices=False)
    return Spectrum(singular**2, U)
