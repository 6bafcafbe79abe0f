"""A kernel's eigenvectors seen whole and cluster by cluster."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from dntk_core.base.errors import DNTKError
from dntk_core.base.memo import nbytes
from dntk_core.base.threads import each
from dntk_core.cache.rows import Array
from dntk_core.kernels.kernel import Kernel, as_kernel
from dntk_core.kernels.spectrum import Between, Spectrum, spectrum


@dataclass(frozen=True)
class Decomposition:
    """Global and lifted local eigenvectors of a kernel K with H clusters I_1 … I_H.

    spectrum: Spectrum  K = U Σ Uᵀ
    locals:   H spectra of the local kernels K_h = K[I_h, I_h], without their vectors, which are in `local`
    labels:   (m,)      cluster of each input
    cluster:  (q,)      cluster h of local eigenvector i; ascending
    rank:     (q,)      its place within its cluster, 0 = largest eigenvalue
    values:   (q,)      its eigenvalue
    local:    H arrays (n_h, q_h), local eigenvectors of every cluster, its inputs in order; may lie in files
    overlap:  (q, L)    ⟨û_i, u_j⟩; its rows of one cluster are u_j restricted to it, in local coordinates

    Where all spectra are complete q = L = m. Of incomplete ones, truncation ranks are cut to what is known, and
    `bounds` says between what the global rank really lies.
    """

    spectrum: Spectrum
    locals: tuple[Spectrum, ...]
    labels: np.ndarray
    cluster: np.ndarray
    rank: np.ndarray
    values: np.ndarray
    local: tuple[Array, ...]
    overlap: np.ndarray

    @property
    def nbytes(self) -> int:
        """What it holds beside the spectrum, which is remembered by itself."""
        return nbytes(self.local) + self.overlap.nbytes + self.labels.nbytes + 3 * self.values.nbytes

    def by(self, energy: str) -> "Decomposition":
        """The same decomposition with ranks by another energy of ENERGIES."""
        if energy == self.spectrum.energy:
            return self
        return replace(self, spectrum=self.spectrum.by(energy), locals=tuple(each.by(energy) for each in self.locals))

    @property
    def H(self) -> int:
        return int(self.cluster[-1]) + 1

    @property
    def starts(self) -> np.ndarray:
        """First row of each cluster, (H,)."""
        return np.flatnonzero(self.rank == 0)

    def lift(self, chosen: np.ndarray) -> np.ndarray:
        """Pad local eigenvectors with zeros: column i is û of chosen[i], (m, n)."""
        lifted = np.zeros((len(self.labels), len(chosen)))
        for columns, members, vectors in self.within(chosen):
            lifted[np.ix_(members, columns)] = vectors
        return lifted

    def within(self, chosen: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """For each cluster: which of chosen (n,) are its own, its inputs (n_h,), and those eigenvectors (n_h, ·)."""
        for h, members in enumerate(members_of(self.labels)):
            columns = np.flatnonzero(self.cluster[chosen] == h)
            yield columns, members, np.asarray(self.local[h])[:, self.rank[chosen[columns]]]

    def bounds(self, epsilon: float) -> Between:
        """Where the truncation rank of K lies."""
        return self.spectrum.rank(epsilon)

    def global_rank(self, epsilon: float) -> int:
        """Return r_g, the truncation rank of K, or the number of eigenvectors known where that is less."""
        return min(int(self.bounds(epsilon).high), len(self.spectrum.values))

    def per_cluster(self, rows: np.ndarray) -> np.ndarray:
        """Sum an array (q, …) over the rows of each cluster: (H, …)."""
        return np.add.reduceat(rows, self.starts, axis=0)

    def local_ranks(self, epsilon: float) -> np.ndarray:
        """Return r_h, the truncation rank of each local kernel, or the number of eigenvectors known: (H,)."""
        return np.array([min(int(each.rank(epsilon).high), len(each.values)) for each in self.locals])

    def cut(self, epsilon: float) -> bool:
        """Whether any rank at ε goes beyond the eigenvectors that are known."""
        return any(each.rank(epsilon).high > len(each.values) for each in (self.spectrum, *self.locals))

    def leading(self, epsilon: float) -> np.ndarray:
        """Mark the local eigenvectors within their cluster's truncation rank: (q,) bool."""
        return self.rank < self.local_ranks(epsilon)[self.cluster]


def decompose(kernel: np.ndarray | Kernel, labels: np.ndarray, known: Spectrum | None = None) -> Decomposition:
    """Decompose a kernel (m, m) as a whole, unless its spectrum is known, and within each cluster of labels (m,)."""
    kernel = as_kernel(kernel)
    labels = np.asarray(labels)
    if labels.shape != (kernel.m,) or not np.array_equal(np.unique(labels), np.arange(labels.max(initial=0) + 1)):
        raise DNTKError(f"labels must be ({kernel.m},) integers 0..H-1 with no cluster empty, got shape {labels.shape}")
    known = spectrum(kernel) if known is None else known
    groups = members_of(labels)
    parts = [spectrum(kernel.restrict(members)) for members in groups]
    overlap = [part.vectors.T @ known.vectors[members] for members, part in zip(groups, parts, strict=True)]
    bare = tuple(replace(part, vectors=part.vectors[:, :0]) for part in parts)
    return assembled(known, labels, bare, tuple(part.vectors for part in parts), np.concatenate(overlap))


def members_of(labels: np.ndarray) -> list[np.ndarray]:
    """The inputs of each cluster."""
    return [np.flatnonzero(labels == h) for h in range(labels.max() + 1)]


def assembled(
    known: Spectrum, labels: np.ndarray, parts: tuple[Spectrum, ...], local: tuple[Array, ...], overlap: np.ndarray
) -> Decomposition:
    """Put the spectra of a kernel and of its clusters labels (m,) together; the others as in `Decomposition`."""
    counts = [len(part.values) for part in parts]
    cluster = np.repeat(np.arange(len(parts)), counts)
    rank = np.concatenate([np.arange(count) for count in counts])
    values = np.concatenate([part.values for part in parts])
    return Decomposition(known, parts, labels, cluster, rank, values, local, overlap)


def permuted(
    kernel: np.ndarray | Kernel, labels: np.ndarray, known: Spectrum, count: int = 5, seed: int = 0
) -> list[Decomposition]:
    """Decompose a kernel for clusters of the same sizes drawn at random: the null model of the clusters labels (m,)."""
    generator = np.random.default_rng(seed)
    drawn = [generator.permutation(labels) for _ in range(count)]
    return each(lambda labels: decompose(kernel, labels, known), drawn)
