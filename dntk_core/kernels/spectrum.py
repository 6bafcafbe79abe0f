"""Spectra of kernels and the ranks, dimensions and redundancies read off them."""

from dataclasses import dataclass

import numpy as np

from dntk_core.base.errors import DNTKError
from dntk_core.kernels.gram import Gram

# Eigenpairs of a kernel that is kept as features, and how they are found.
LEADING, OVERSAMPLED, ITERATIONS = 256, 32, 4


@dataclass(frozen=True)
class Spectrum:
    """The eigendecomposition K = U Σ Uᵀ of a kernel.

    values:  (m,)    eigenvalues, descending; rounding below zero is clipped to 0
    vectors: (m, L)  column j is the unit eigenvector u_j of values[j]

    Of a dense kernel L = m. Of one kept as features only the leading L eigenpairs are computed, and the other
    eigenvalues are given as their mean: the trace is exact, and so are truncation ranks up to L.
    """

    values: np.ndarray
    vectors: np.ndarray

    @property
    def leading(self) -> np.ndarray:
        """The eigenvalues that have eigenvectors, (L,)."""
        return self.values[: self.vectors.shape[1]]


def spectrum(kernel: np.ndarray | Gram) -> Spectrum:
    """Decompose a symmetric positive semi-definite kernel (m, m)."""
    if isinstance(kernel, Gram):
        return leading_spectrum(kernel, min(LEADING, len(kernel)))
    values, vectors = np.linalg.eigh(kernel)
    return Spectrum(np.clip(values[::-1], 0.0, None), np.ascontiguousarray(vectors[:, ::-1]))


def leading_spectrum(kernel: Gram, L: int) -> Spectrum:
    """Compute the L leading eigenpairs by randomised subspace iteration.

    Iterations are in float32; the eigenpairs within the subspace found are those of the float64 kernel.
    """
    m = len(kernel)
    V = np.random.default_rng(0).standard_normal((m, min(L + OVERSAMPLED, m)))
    for _ in range(ITERATIONS):
        V, _ = np.linalg.qr(kernel.apply(V, np.float32).astype(np.float64))
    values, W = np.linalg.eigh(V.T @ (kernel @ V))
    values = np.clip(values[::-1][:L], 0.0, None)
    rest = max(kernel.trace() - values.sum(), 0.0)
    tail = np.full(m - L, rest / max(m - L, 1))
    return Spectrum(np.append(values, np.minimum(tail, values[-1])), np.ascontiguousarray(V @ W[:, ::-1][:, :L]))


def check_share(name: str, value: float) -> None:
    """Refuse a share outside [0, 1]."""
    if not 0.0 <= value <= 1.0:
        raise DNTKError(f"{name} must lie in [0, 1], got {value}")


def truncation_rank(eigenvalues: np.ndarray, epsilon: float) -> int:
    """Find the smallest r >= 1 with Σ_{i<=r} λ_i >= (1-ε) Σ λ_i (Definition "Data redundancy").

    Negative eigenvalues count as 0; a zero spectrum has rank 1.

    >>> truncation_rank(np.array([6.0, 3.0, 1.0]), 0.1)
    2
    """
    check_share("epsilon", epsilon)
    values = np.sort(np.clip(eigenvalues, 0.0, None))[::-1]
    captured = np.cumsum(values)
    # The relative slack keeps an exact share, such as 0.9 of 10, from being lost to rounding.
    enough = captured >= (1.0 - epsilon) * captured[-1] * (1.0 - 1e-12)
    return int(np.argmax(enough)) + 1


def data_redundancy(eigenvalues: np.ndarray, epsilon: float) -> float:
    """Return the largest r for which the inputs are (r, ε)-data-redundant: m / r_trunc(ε).

    >>> data_redundancy(np.array([9.0, 1.0, 0.0, 0.0]), 0.1)
    4.0
    """
    return len(eigenvalues) / truncation_rank(eigenvalues, epsilon)


def effective_dimension(eigenvalues: np.ndarray, ridge: float) -> float:
    """Return d(λ) = Σ_j λ_j / (λ_j + λ), for an absolute ridge λ in the units of the eigenvalues.

    At λ = 0 this is the number of positive eigenvalues.

    >>> effective_dimension(np.array([1.0, 0.0]), 1.0)
    0.5
    """
    if ridge < 0:
        raise DNTKError(f"ridge must not be negative, got {ridge}")
    positive = eigenvalues[eigenvalues > 0]
    return float(np.sum(positive / (positive + ridge)))


def stable_dimension(eigenvalues: np.ndarray) -> float:
    """Return d = (Σ λ_j)² / Σ λ_j² = tr(K)²/‖K‖_F²: how many equal eigenvalues would look like these.

    >>> stable_dimension(np.array([2.0, 2.0, 0.0]))
    2.0
    """
    total = float(np.sum(eigenvalues))
    return total**2 / float(np.sum(eigenvalues**2)) if total > 0 else 0.0


def condition_number(eigenvalues: np.ndarray, ridge: float = 0.0) -> float:
    """Return (λ_max + λ) / (λ_min + λ) for an absolute ridge λ; infinity where that matrix is singular.

    >>> condition_number(np.array([3.0, 0.0]), 1.0)
    4.0
    """
    largest, smallest = np.max(eigenvalues) + ridge, max(np.min(eigenvalues), 0.0) + ridge
    return float(largest / smallest) if smallest > 0 else float("inf")


@dataclass(frozen=True)
class ParameterRedundancy:
    """(P/r, ε′)-parameter redundancy by the proposition on JL projections.

    rank:       r, the truncation rank of the projected kernel at δ = epsilon
    factor:     P / r, how many times fewer parameter directions suffice
    tail:       √(δ λ_{r+1} / λ̄), the paper's bound on ‖K - K_r‖_F / ‖K‖_F
    exact_tail: √(Σ_{i>r} λ_i² / Σ λ_i²), that ratio itself; never above `tail`
    jl:         √((1+d)/k) with d = tr(K)²/‖K‖_F², the expected relative Frobenius error of the projection
    epsilon:    ε′ = tail + jl
    """

    rank: int
    factor: float
    tail: float
    exact_tail: float
    jl: float
    epsilon: float


def parameter_redundancy(eigenvalues: np.ndarray, parameters: int, k: int, epsilon: float) -> ParameterRedundancy:
    """Evaluate ε′ of the parameter-redundancy proposition from the projected kernel's eigenvalues (m,).

    The paper bounds the *squared* error by δ λ_{r+1}/λ̄ and then adds it to ε_JL; the definition of
    redundancy is about the error itself, so its root is added here.
    """
    values = np.clip(eigenvalues, 0.0, None)
    r = truncation_rank(values, epsilon)
    mean, energy = values.mean(), np.sum(values**2)
    following = values[r] if r < len(values) else 0.0
    tail = float(np.sqrt(epsilon * following / mean)) if mean > 0 else 0.0
    exact = float(np.sqrt(np.sum(values[r:] ** 2) / energy)) if energy > 0 else 0.0
    jl = float(np.sqrt((1.0 + stable_dimension(values)) / k)) if energy > 0 else 0.0
    return ParameterRedundancy(r, parameters / r, tail, exact, jl, tail + jl)
