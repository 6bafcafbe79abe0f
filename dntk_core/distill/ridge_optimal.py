"""Rows chosen for the ridge readout itself; ours, not the paper's, and the only ones that look at the targets.

The full solutions α^c = (K^c + λI)⁻¹ y_c minimise ½ αᵀ(K^c + λI)α - αᵀy_c. Over the span of the rows of A that
minimum is -½ J(A), J(A) = Σ_c (A y_c)ᵀ (A (K^c + λI) Aᵀ)⁻¹ (A y_c), so the best A maximises J.
"""

import numpy as np
from scipy.linalg import cho_factor, cho_solve, qr
from scipy.optimize import minimize

from dntk_core.distill.kernel_pca import kernel_pca
from dntk_core.distill.mixing import Mixing, Origin
from dntk_core.kernels.class_kernels import Kernels
from dntk_core.kernels.spectrum import Spectrum


def objective(kernels: Kernels, targets: np.ndarray, lam: float, matrix: np.ndarray) -> tuple[float, np.ndarray]:
    """Return J(A) and its gradient 2 Σ_c w_c (y_c - (K^c+λI)Aᵀw_c)ᵀ, w_c = (A(K^c+λI)Aᵀ)⁻¹ A y_c: (s, m)."""
    value, gradient = 0.0, np.zeros_like(matrix)
    for K, y in zip(kernels.train, targets.T, strict=True):
        shifted = matrix @ K + lam * matrix
        b = matrix @ y
        w = cho_solve(cho_factor(shifted @ matrix.T, lower=True, check_finite=False), b, check_finite=False)
        value += b @ w
        gradient += 2.0 * np.outer(w, y - w @ shifted)
    return float(value), gradient


def ridge_optimal(kernels: Kernels, whole: Spectrum, targets: np.ndarray, lam: float, size: int) -> Mixing:
    """Find at most `size` orthonormal rows that maximise J; `whole` is the spectrum of K̄. Not nested.

    From size = C on, rows that span α^1 … α^C give back the full readout exactly, and more add nothing.
    """
    if size >= len(kernels.train):
        matrix = spanning_rows(kernels, targets, lam)
    elif kernels.dense:
        matrix = optimised_rows(kernels, whole, targets, lam, size)
    else:
        matrix = leading_rows(kernels, whole, targets, lam, size)
    return Mixing(matrix, tuple(Origin("optimal", None, i) for i in range(len(matrix))), nested=False)


def spanning_rows(kernels: Kernels, targets: np.ndarray, lam: float) -> np.ndarray:
    """Return orthonormal rows that span the full solutions α^1 … α^C: (rank, m), at least one row."""
    if kernels.dense:
        shifted = kernels.train + lam * np.eye(len(targets))
        alpha = np.stack([cho_solve(cho_factor(S), y) for S, y in zip(shifted, targets.T, strict=True)], axis=1)
    else:
        alpha = kernels.train.solve(targets, lam).T
    norms = np.linalg.norm(alpha, axis=0)
    Q, R, _ = qr(alpha / np.where(norms > 0, norms, 1.0), mode="economic", pivoting=True)
    rank = np.sum(np.abs(np.diag(R)) > 1e-12)
    return np.ascontiguousarray(Q[:, : max(rank, 1)].T)


def leading_rows(kernels: Kernels, whole: Spectrum, targets: np.ndarray, lam: float, size: int) -> np.ndarray:
    """Maximise J over rows in the span of K̄'s leading eigenvectors U alone, where all kernels are small: (size, m)."""
    U = whole.vectors
    within = Kernels(np.stack([U.T @ (K @ U) for K in kernels.train]), np.empty((len(kernels.train), 0, U.shape[1])))
    spectrum = Spectrum(whole.leading, np.eye(U.shape[1]))
    return optimised_rows(within, spectrum, U.T @ targets, lam, size) @ U.T


def optimised_rows(
    kernels: Kernels, whole: Spectrum, targets: np.ndarray, lam: float, size: int, iterations: int = 300
) -> np.ndarray:
    """Maximise J by L-BFGS from kernel PCA, over A = B D Uᵀ with D = (Σ/scale + ridge)^{-1/2}: (size, m).

    D whitens K̄ in units of its mean diagonal; without it the first steps see only the largest eigenvalues.
    """
    start = kernel_pca(whole, size).matrix
    scale = kernels.scale or 1.0
    root = np.sqrt((whole.values + lam) / scale)
    basis = whole.vectors / root
    norm, _ = objective(kernels, targets, lam, start)
    if norm <= 0:
        return start

    def loss(flat: np.ndarray) -> tuple[float, np.ndarray]:
        J, gradient = objective(kernels, targets, lam, flat.reshape(size, -1) @ basis.T)
        return -J / norm, (-gradient @ basis / norm).ravel()

    whitened = (start @ whole.vectors) * root
    whitened /= np.linalg.norm(whitened, axis=1, keepdims=True)
    found = minimize(loss, whitened.ravel(), jac=True, method="L-BFGS-B", options={"maxiter": iterations})
    Q, _ = np.linalg.qr(basis @ found.x.reshape(size, -1).T)
    return np.ascontiguousarray(Q.T)
