"""Spectral clusters of a kernel: embed once for the largest H, then k-means for each H."""

from dataclasses import dataclass

import numpy as np

from dntk_core.base.errors import DNTKError
from dntk_core.kernels.gram import Gram
from dntk_core.kernels.kmeans import kmeans
from dntk_core.kernels.spectrum import Spectrum, spectrum


@dataclass(frozen=True)
class Embedding:
    """Leading eigenvectors of the normalised affinity D^{-1/2} W D^{-1/2}.

    vectors: (m, L)  column j belongs to the j-th largest eigenvalue; H clusters use the first min(H, L)
    """

    vectors: np.ndarray


def affinity(kernel: np.ndarray) -> np.ndarray:
    """Turn a kernel (m, m) into an affinity: W_ij = max(0, K_ij / √(K_ii K_jj)), W_ii = 1.

    >>> affinity(np.array([[4.0, -2.0], [-2.0, 1.0]]))
    array([[1., 0.],
           [0., 1.]])
    """
    norm = np.sqrt(np.clip(np.diag(kernel), 0.0, None))
    safe = np.where(norm > 0, norm, 1.0)
    W = np.clip(kernel / safe[:, None] / safe, 0.0, None)
    # An input without gradient resembles nothing but itself.
    np.fill_diagonal(W, 1.0)
    return W


def embed(kernel: np.ndarray | Gram, largest: int = 50, whole: Spectrum | None = None) -> Embedding:
    """Embed the inputs of a kernel (m, m) for clusterings of up to `largest` dimensions.

    whole: the kernel's spectrum, where it is at hand; only kernels kept as features have use for it
    """
    if isinstance(kernel, Gram):
        return embed_leading(kernel, spectrum(kernel) if whole is None else whole, largest)
    W = affinity(kernel)
    root = np.sqrt(W.sum(axis=1))
    _, vectors = np.linalg.eigh(W / root[:, None] / root)
    return Embedding(np.ascontiguousarray(vectors[:, ::-1][:, :largest]))


def embed_leading(kernel: Gram, whole: Spectrum, largest: int) -> Embedding:
    """Embed by leading eigenvectors alone: W ≈ Z Zᵀ, Z = rows of U√Σ over √K_ii; negative cosines are kept."""
    norm = np.sqrt(kernel.diagonal())
    Z = whole.vectors * np.sqrt(whole.leading) / np.where(norm > 0, norm, 1.0)[:, None]
    degree = Z @ Z.sum(axis=0)
    # An input that resembles no other has at least itself.
    U, _, _ = np.linalg.svd(Z / np.sqrt(np.maximum(degree, 1.0))[:, None], full_matrices=False)
    return Embedding(np.ascontiguousarray(U[:, :largest]))


def cluster_embedding(embedding: Embedding, H: int, seed: int) -> np.ndarray:
    """Cut an embedding into H clusters by k-means on its unit rows: labels (m,) in 0..H-1, all used."""
    m = len(embedding.vectors)
    if not 1 <= H <= m:
        raise DNTKError(f"the number of clusters H must lie in 1..{m} (the number of kernel inputs), got {H}")
    points = embedding.vectors[:, :H]
    norm = np.linalg.norm(points, axis=1, keepdims=True)
    return kmeans(points / np.where(norm > 0, norm, 1.0), H, np.random.default_rng(seed))


def spectral_clusters(kernel: np.ndarray, H: int, seed: int = 0) -> np.ndarray:
    """Partition the inputs of a kernel (m, m) into H non-empty clusters: labels (m,).

    >>> spectral_clusters(np.kron(np.eye(2), np.ones((2, 2))), 2)
    array([0, 0, 1, 1])
    """
    return cluster_embedding(embed(kernel), H, seed)
