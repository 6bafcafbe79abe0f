"""Spectral clusters of a kernel: embed once for the largest H, then k-means for each H."""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigh

from dntk_core.base.errors import DNTKError
from dntk_core.kernels.kernel import Kernel, as_kernel
from dntk_core.kernels.kmeans import kmeans
from dntk_core.kernels.together import Alone, Together, share

# Up to this many inputs the embedding is exact; of more, as many landmarks are embedded and the others follow them.
EVERY, LANDMARKS = 4000, 2000


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
    norm = _norms(np.diag(kernel))
    W = np.clip(kernel / norm[:, None] / norm, 0.0, None)
    # An input without gradient resembles nothing but itself.
    np.fill_diagonal(W, 1.0)
    return W


def embed(kernel: np.ndarray | Kernel, largest: int = 50, together: Together | None = None) -> Embedding:
    """Embed the inputs of a kernel (m, m) for clusterings of up to `largest` dimensions, by one process or several.

    Of more than EVERY inputs some are drawn as landmarks I and embedded; any other input x then lies at
    v_j(x) = (1/μ_j) Σ_{i∈I} W_xi v_j(i) / √(d_x d_i), as the landmarks themselves do.
    """
    kernel = as_kernel(kernel)
    if kernel.m <= EVERY:
        return Embedding(_leading(affinity(kernel.block(np.arange(kernel.m), np.arange(kernel.m))), largest)[1])
    chosen = np.random.default_rng(0).permutation(kernel.m)[:LANDMARKS]
    together = together or Alone()
    # Cosines need no more digits than the features have.
    W = affinity(together.gather(kernel.block(chosen[share(together, LANDMARKS)], chosen, np.float32)))
    values, landmarks = _leading(W, largest)
    weights = landmarks / np.sqrt(W.sum(axis=1))[:, None] / values
    norm = _norms(kernel.diagonal())
    own, placed = np.arange(kernel.m)[share(together, kernel.m)], []
    for rows in np.array_split(own, max(1, len(own) // LANDMARKS)):
        near = np.clip(kernel.block(rows, chosen, np.float32) / norm[rows, None] / norm[chosen], 0.0, None)
        degree = near.sum(axis=1, keepdims=True)
        placed.append(near @ weights / np.sqrt(np.where(degree > 0, degree, 1.0)))
    vectors = together.gather(np.concatenate(placed))
    vectors[chosen] = landmarks
    return Embedding(vectors)


def _norms(diagonal: np.ndarray) -> np.ndarray:
    """√K_ii, or 1 where an input has no gradient."""
    norm = np.sqrt(np.clip(diagonal, 0.0, None))
    return np.where(norm > 0, norm, 1.0)


def _leading(W: np.ndarray, largest: int) -> tuple[np.ndarray, np.ndarray]:
    """The largest eigenvalues μ (L,) and eigenvectors (m, L) of D^{-1/2} W D^{-1/2}, descending."""
    root, m = np.sqrt(W.sum(axis=1)), len(W)
    values, vectors = eigh(W / root[:, None] / root, subset_by_index=(max(m - largest, 0), m - 1))
    return values[::-1], np.ascontiguousarray(vectors[:, ::-1])


def cluster_embedding(embedding: Embedding, H: int, seed: int, together: Together | None = None) -> np.ndarray:
    """Cut an embedding into H clusters by k-means on its unit rows: labels (m,) in 0..H-1, all used."""
    m = len(embedding.vectors)
    if not 1 <= H <= m:
        raise DNTKError(f"the number of clusters H must lie in 1..{m} (the number of kernel inputs), got {H}")
    points = embedding.vectors[:, :H]
    norm = np.linalg.norm(points, axis=1, keepdims=True)
    return kmeans(points / np.where(norm > 0, norm, 1.0), H, np.random.default_rng(seed), together=together)


def spectral_clusters(kernel: np.ndarray | Kernel, H: int, seed: int = 0) -> np.ndarray:
    """Partition the inputs of a kernel (m, m) into H non-empty clusters: labels (m,).

    >>> spectral_clusters(np.kron(np.eye(2), np.ones((2, 2))), 2)
    array([0, 0, 1, 1])
    """
    return cluster_embedding(embed(kernel), H, seed)
