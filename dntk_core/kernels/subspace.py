"""What the span V of distilled gradients Φ̂ = AΦ captures of all gradients Φ, from kernels alone."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg import solve_triangular

from dntk_core.kernels.kernel import Kernel, as_kernel, row_means


@dataclass(frozen=True)
class SubspaceCoverage:
    """How well V holds the centred gradients, per number s of leading rows of A.

    coverage:       (q,)  ‖ΦVVᵀ‖² / ‖Φ‖²
    reconstruction: (q,)  ‖Φ - ΦVVᵀ‖² / n, in the kernel's units
    """

    coverage: np.ndarray
    reconstruction: np.ndarray


def projected(cross: np.ndarray, gram: np.ndarray, energy: float) -> np.ndarray:
    """Return coordinates ΦV of gradients in an orthonormal basis V of span Φ̂ᵀ, in the order of its rows.

    cross (n, s) = ΦΦ̂ᵀ, gram (s, s) = Φ̂Φ̂ᵀ = LLᵀ: ΦV = cross L⁻ᵀ, (n, s).
    """
    return solve_triangular(span_factor(gram, energy), cross.T, lower=True, check_finite=False).T


def span_factor(gram: np.ndarray, energy: float) -> np.ndarray:
    """Factorise Φ̂Φ̂ᵀ = LLᵀ, (s, s); then V = Φ̂ᵀL⁻ᵀ.

    Rows that depend on earlier ones get coordinates 0, up to the rounding that is added to the diagonal to let the
    factorisation pass. energy: ‖A‖²‖Φ‖², to which the rounding in gram is relative: Φ̂ itself may all but vanish
    """
    s = len(gram)
    rounding = s * np.finfo(float).eps * energy or 1.0
    return np.linalg.cholesky(gram + rounding * np.eye(s))


def subspace_coverage(
    kernels: Sequence[np.ndarray | Kernel], matrix: np.ndarray, sizes: np.ndarray
) -> SubspaceCoverage:
    """Measure what the first s rows of A (s, m) span, for each s in sizes (q,), over C kernels (m, m).

    The gradients are centred as in the paper; V is the span of the distilled gradients as they are. Energies
    are summed over classes, each with its own Φ^c and V^c.
    """
    m = matrix.shape[1]
    added, total, traces = np.zeros(len(matrix)), 0.0, 0.0
    for kernel in map(as_kernel, kernels):
        cross = kernel.times(np.ascontiguousarray(matrix.T))
        added += added_energy(cross, matrix @ cross, largest_energy(matrix, kernel.trace()))
        total += kernel.trace() - row_means(kernel).sum()
        traces += kernel.trace()
    captured = np.append(0.0, np.cumsum(added))[np.minimum(sizes, len(matrix))]
    missed = np.clip(total - captured, 0.0, None)
    # Equal gradients have no variance but rounding, and nothing is left to cover.
    some = total > m * np.finfo(float).eps * traces
    coverage = 1.0 - missed / total if some else np.ones(len(captured))
    return SubspaceCoverage(coverage, missed / (m * len(kernels)))


def added_energy(cross: np.ndarray, gram: np.ndarray, energy: float) -> np.ndarray:
    """Return the centred energy that each row of A adds to what the rows before it capture: (s,).

    cross (m, s) = K Aᵀ, gram (s, s) = A K Aᵀ; energy as in `projected`
    """
    return np.sum(projected(cross - cross.mean(axis=0), gram, energy) ** 2, axis=0)


def largest_energy(matrix: np.ndarray, trace: float) -> float:
    """The largest squared norm a row of AΦ can have: max ‖A_i‖² tr(K)."""
    return float(np.max(np.sum(matrix**2, axis=1)) * trace)
