"""What the span V of distilled gradients Φ̂ = AΦ captures of all gradients Φ, from kernels alone."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg import solve_triangular

from dntk_core.kernels.spectrum import spectrum


@dataclass(frozen=True)
class SubspaceCoverage:
    """How well V holds the centred gradients, per number s of leading rows of A.

    coverage:       (q,)  ‖ΦVVᵀ‖² / ‖Φ‖²
    reconstruction: (q,)  ‖Φ - ΦVVᵀ‖² / n, in the kernel's units
    """

    coverage: np.ndarray
    reconstruction: np.ndarray


@dataclass(frozen=True)
class EnergyGap:
    """‖Φ(I-Π)‖² = PCA tail + misalignment (Proposition "Energy-gap decomposition").

    rank:         r, the rank of Π
    total:        ‖Φ‖²
    captured:     ‖ΦΠ‖²
    tail:         Σ_{j>r} σ_j², what the best Π of that rank misses
    misalignment: tr(ΦᵀΦ Π*) - tr(ΦᵀΦ Π) >= 0, what this one misses beyond that
    kernel_error: ‖K - ΦΠΦᵀ‖_F
    kernel_bound: ‖Φ‖ ‖Φ(I-Π)‖, the paper's bound on it
    """

    rank: int
    total: float
    captured: float
    tail: float
    misalignment: float
    kernel_error: float
    kernel_bound: float


def projected(cross: np.ndarray, gram: np.ndarray, energy: float) -> np.ndarray:
    """Return coordinates ΦV of gradients in an orthonormal basis V of span Φ̂ᵀ, in the order of its rows.

    cross (n, s) = ΦΦ̂ᵀ, gram (s, s) = Φ̂Φ̂ᵀ = LLᵀ: ΦV = cross L⁻ᵀ, (n, s). Rows that depend on earlier ones get
    coordinates 0, up to the rounding that is added to the diagonal to let the factorisation pass.
    energy: ‖A‖²‖Φ‖², to which the rounding in gram is relative: Φ̂ itself may all but vanish
    """
    s = len(gram)
    rounding = s * np.finfo(float).eps * energy or 1.0
    L = np.linalg.cholesky(gram + rounding * np.eye(s))
    return solve_triangular(L, cross.T, lower=True, check_finite=False).T


def subspace_coverage(kernels: Sequence, matrix: np.ndarray, sizes: np.ndarray) -> SubspaceCoverage:
    """Measure what the first s rows of A (s, m) span, for each s in sizes (q,), over kernels (C, m, m).

    The gradients are centred as in the paper; V is the span of the distilled gradients as they are. Energies
    are summed over classes, each with its own Φ^c and V^c.
    """
    m = matrix.shape[1]
    # Entry i: the energy that row i adds to what the rows before it capture.
    added, total = np.zeros(len(matrix)), 0.0
    for K in kernels:
        cross = K @ matrix.T
        centred = cross - cross.mean(axis=0)
        added += np.sum(projected(centred, matrix @ cross, _energy(K, matrix)) ** 2, axis=0)
        total += K.trace() - K.sum() / m
    captured = np.append(0.0, np.cumsum(added))[np.minimum(sizes, len(matrix))]
    missed = np.clip(total - captured, 0.0, None)
    # Equal gradients have no variance but rounding, and nothing is left to cover.
    some = total > m * np.finfo(float).eps * sum(K.trace() for K in kernels)
    coverage = 1.0 - missed / total if some else np.ones(len(captured))
    return SubspaceCoverage(coverage, missed / (m * len(kernels)))


def nystrom(kernel: np.ndarray, matrix: np.ndarray) -> np.ndarray:
    """Return ΦΠΦᵀ = K Aᵀ (A K Aᵀ)⁺ A K, the kernel that the distilled gradients induce: (m, m)."""
    cross = kernel @ matrix.T
    coordinates = projected(cross, matrix @ cross, _energy(kernel, matrix))
    return coordinates @ coordinates.T


def energy_gap(kernel: np.ndarray, matrix: np.ndarray) -> EnergyGap:
    """Split what a mixing (s, m), or chosen inputs as its one-hot rows, misses of a kernel (m, m)."""
    values = spectrum(kernel).values
    induced = nystrom(kernel, matrix)
    distilled = np.linalg.eigvalsh(matrix @ kernel @ matrix.T)
    rank = int(np.sum(distilled > len(kernel) * np.finfo(float).eps * max(distilled.max(), 0.0)))
    total, captured, best = float(values.sum()), float(np.trace(induced)), float(values[:rank].sum())
    missed = max(total - captured, 0.0)
    return EnergyGap(
        rank,
        total,
        captured,
        tail=total - best,
        misalignment=best - captured,
        kernel_error=float(np.linalg.norm(kernel - induced)),
        kernel_bound=float(np.sqrt(total * missed)),
    )


def _energy(kernel: np.ndarray, matrix: np.ndarray) -> float:
    """The largest squared norm a row of AΦ can have: max ‖A_i‖² tr(K)."""
    return float(np.max(np.sum(matrix**2, axis=1)) * kernel.trace())
