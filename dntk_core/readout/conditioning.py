"""Condition number and smallest eigenvalue of the matrices a readout solves."""

from collections.abc import Callable

import numpy as np
from scipy.linalg import solve_triangular

from dntk_core.readout.compressed import eigenvalue_ends
from dntk_core.readout.ridge import ridge_factor

STEPS = 16


def conditioning(gram: np.ndarray, lam: float) -> tuple[np.ndarray, np.ndarray]:
    """Return condition number and smallest eigenvalue of each solved matrix G^c + λI: two (C,).

    gram: (C, s, s), the compressed kernels A K^c Aᵀ
    """
    return conditioning_of(eigenvalue_ends(gram), lam)


def conditioning_of(ends: np.ndarray, lam: float) -> tuple[np.ndarray, np.ndarray]:
    """Return both where the smallest and largest eigenvalues (C, 2) of G^c are at hand."""
    smallest, largest = ends.T + lam
    return largest / smallest, smallest


def prefix_conditioning(gram: np.ndarray, lam: float, sizes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return both for the leading s_i × s_i blocks of all sizes (q,), averaged over classes: two (q,).

    The largest eigenvalue of each block comes from Lanczos steps with the block, the smallest from steps with its
    inverse; both act on all sizes in one product. They are good to about 1 %, for a small part of the time.
    """
    within = (np.arange(gram.shape[1])[:, None] < sizes).astype(float)
    condition, smallest = np.zeros(len(sizes)), np.zeros(len(sizes))
    for G, L in zip(gram, ridge_factor(gram, lam), strict=True):

        def inverse(V: np.ndarray, L: np.ndarray = L) -> np.ndarray:
            # Rows beyond a block are struck out between the two substitutions, which keeps them 0 after both.
            forward = solve_triangular(L, V, lower=True, check_finite=False) * within
            return solve_triangular(L, forward, trans=1, lower=True, check_finite=False)

        largest = largest_eigenvalues(lambda V, G=G: G @ V * within + lam * V, within)
        least = 1.0 / largest_eigenvalues(inverse, within)
        condition += largest / least / len(gram)
        smallest += least / len(gram)
    return condition, smallest


def largest_eigenvalues(apply: Callable[[np.ndarray], np.ndarray], within: np.ndarray) -> np.ndarray:
    """Run Lanczos on q symmetric operators side by side and return each one's largest Ritz value: (q,).

    apply: (s, q) -> (s, q), column i by operator i, which acts on the rows where within[:, i] is 1.
    """
    s, q = within.shape
    steps = min(STEPS, s)
    # A fixed start with no symmetry that an eigenvector might share.
    V = within * np.random.default_rng(0).standard_normal((s, 1))
    V /= np.linalg.norm(V, axis=0)
    T = np.zeros((q, steps, steps))
    previous, beta = np.zeros_like(V), np.zeros(q)
    for i in range(steps):
        W = apply(V) - beta * previous
        alpha = np.einsum("sq,sq->q", W, V)
        W -= alpha * V
        T[:, i, i] = alpha
        beta = np.linalg.norm(W, axis=0)
        # A block that is exhausted goes on with zero vectors, which add Ritz values 0.
        beta = np.where(beta > 1e-12 * np.abs(T[:, 0, 0]), beta, 0.0)
        if i + 1 < steps:
            T[:, i, i + 1] = T[:, i + 1, i] = beta
        previous, V = V, np.divide(W, beta, out=np.zeros_like(W), where=beta > 0)
    return np.linalg.eigvalsh(T)[:, -1]
