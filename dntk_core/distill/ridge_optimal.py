"""Rows chosen for the ridge readout itself; ours, not the paper's, and the only ones that look at the targets.

The full solutions α^c = (K^c + λI)⁻¹ y_c minimise ½ αᵀ(K^c + λI)α - αᵀy_c. Over the span of the rows of A that
minimum is -½ J(A), J(A) = Σ_c (A y_c)ᵀ (A (K^c + λI) Aᵀ)⁻¹ (A y_c), so the best A maximises J.
"""

from typing import cast

import numpy as np
from scipy.linalg import cho_factor, cho_solve, qr
from scipy.optimize import minimize

from dntk_core.distill.mixing import Mixing, Origin
from dntk_core.kernels.class_kernels import ClassKernels
from dntk_core.kernels.spectrum import Spectrum


def objective(train: np.ndarray, targets: np.ndarray, lam: float, matrix: np.ndarray) -> tuple[float, np.ndarray]:
    """Return J(A) and its gradient 2 Σ_c w_c (y_c - (K^c+λI)Aᵀw_c)ᵀ, w_c = (A(K^c+λI)Aᵀ)⁻¹ A y_c: (s, m).

    train (C, m, m), targets (m, C), matrix (s, m)
    """
    value, gradient = 0.0, np.zeros_like(matrix)
    for K, y in zip(train, targets.T, strict=True):
        shifted = matrix @ K + lam * matrix
        b = matrix @ y
        w = cho_solve(cho_factor(shifted @ matrix.T, lower=True, check_finite=False), b, check_finite=False)
        value += b @ w
        gradient += 2.0 * np.outer(w, y - w @ shifted)
    return float(value), gradient


def ridge_optimal(kernels: ClassKernels, spectrum: Spectrum, targets: np.ndarray, lam: float, size: int) -> Mixing:
    """Find at most `size` orthonormal rows that maximise J; `spectrum` is that of K̄. Not nested.

    From size = C on, rows that span α^1 … α^C give back the full readout exactly, and more add nothing.
    """
    if size >= kernels.shape[0]:
        matrix = spanning_rows(kernels, targets, lam)
    else:
        matrix = optimised_rows(kernels, spectrum, targets, lam, size)
    return Mixing(matrix, tuple(Origin("optimal", None, i) for i in range(len(matrix))), nested=False)


def spanning_rows(kernels: ClassKernels, targets: np.ndarray, lam: float) -> np.ndarray:
    """Return orthonormal rows that span the full solutions α^1 … α^C: (rank, m), at least one row."""
    alpha = kernels.solve(targets, lam).T
    norms = np.linalg.norm(alpha, axis=0)
    scaled = alpha / np.where(norms > 0, norms, 1.0)
    Q, R, _ = cast(tuple[np.ndarray, np.ndarray, np.ndarray], qr(scaled, mode="economic", pivoting=True))
    rank = np.sum(np.abs(np.diag(R)) > 1e-12)
    return np.ascontiguousarray(Q[:, : max(rank, 1)].T)


def optimised_rows(
    kernels: ClassKernels, spectrum: Spectrum, targets: np.ndarray, lam: float, size: int, iterations: int = 300
) -> np.ndarray:
    """Maximise J by L-BFGS from kernel PCA, over A = B D Uᵀ with D = (Σ/scale + ridge)^{-1/2}: (size, m).

    Everything is small in the coordinates of K̄'s known eigenvectors U, (m, L). D whitens K̄ in units of its mean
    diagonal; without it the first steps see only the largest eigenvalues.
    """
    U = spectrum.vectors
    train, y = kernels.between(np.ascontiguousarray(U.T)), U.T @ targets
    scale = kernels.scale or 1.0
    root = np.sqrt((spectrum.values + lam) / scale)
    start = np.eye(size, len(root))
    norm, _ = objective(train, y, lam, start)
    if norm <= 0:
        return np.ascontiguousarray(U[:, :size].T)

    def loss(flat: np.ndarray) -> tuple[float, np.ndarray]:
        J, gradient = objective(train, y, lam, flat.reshape(size, -1) / root)
        return -J / norm, (-gradient / root / norm).ravel()

    # Kernel PCA in whitened coordinates, its rows of length 1.
    found = minimize(loss, start.ravel(), jac=True, method="L-BFGS-B", options={"maxiter": iterations})
    Q, _ = np.linalg.qr(U @ (found.x.reshape(size, -1) / root).T)
    return np.ascontiguousarray(Q.T)
