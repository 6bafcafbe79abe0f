"""Spectra of kernels and the ranks, dimensions and redundancies read off them."""

from dataclasses import dataclass, replace
from math import ceil

import numpy as np

from dntk_core.base.errors import DNTKError
from dntk_core.kernels.kernel import Kernel, as_kernel
from dntk_core.kernels.krylov import RESIDUAL

# The relative slack that keeps an exact share, such as 0.9 of 10, from being lost to rounding.
SLACK = 1e-12
# What ranks are shares of, as a power of the eigenvalues of K = ΦΦᵀ: the energy of the gradients, Σ λ = ‖Φ‖_F², as the
# paper defines it, or that of the kernel, Σ λ² = ‖K‖_F², as squared singular values of K give it.
ENERGIES = {"gradients": 1, "kernel": 2}


@dataclass(frozen=True)
class Between:
    """A number that is known exactly (low = high), or to lie between two."""

    low: float
    high: float

    @property
    def exact(self) -> bool:
        return self.low == self.high

    def __format__(self, form: str) -> str:
        return format(self.low, form) if self.exact else f"{format(self.low, form)}–{format(self.high, form)}"


@dataclass(frozen=True)
class Spectrum:
    """The eigendecomposition K = U Σ Uᵀ of a kernel, whole or as far as it was computed.

    values:  (L,)    the leading eigenvalues, descending; rounding below zero is clipped to 0
    vectors: (m, L)  column j is the unit eigenvector u_j of values[j]
    trace:   tr K
    order:   how many eigenvalues may differ from 0; the spectrum is complete where all of them are known
    energy:  one of ENERGIES, what ranks are shares of

    Of incomplete spectra ranks and dimensions are given between bounds: the eigenvalues that are not known lie
    between 0 and the smallest known one, and their sum is what the known ones leave of the trace.
    """

    values: np.ndarray
    vectors: np.ndarray
    trace: float
    order: int
    energy: str = "gradients"

    def by(self, energy: str) -> "Spectrum":
        """The same spectrum with ranks by another energy."""
        check_energy(energy)
        return replace(self, energy=energy)

    @property
    def m(self) -> int:
        return len(self.vectors)

    @property
    def complete(self) -> bool:
        return len(self.values) >= self.order

    @property
    def rest(self) -> float:
        """Σ of the eigenvalues that are not known."""
        return 0.0 if self.complete else max(self.trace - float(self.values.sum()), 0.0)

    @property
    def held(self) -> np.ndarray:
        """The energy of the first r directions, r = 1 … L: Σ_{i<=r} λ_i or Σ_{i<=r} λ_i²."""
        return np.cumsum(self.values ** ENERGIES[self.energy])

    @property
    def captured(self) -> float:
        """The energy of all eigenvalues known."""
        return float((self.values ** ENERGIES[self.energy]).sum())

    @property
    def beyond(self) -> tuple[float, float]:
        """Bounds of the energy of the n eigenvalues not known: of squares with sum R and largest λ, R²/n and λR."""
        if self.energy == "gradients" or self.complete:
            return self.rest, self.rest
        return self.rest**2 / (self.order - len(self.values)), self.rest * self._largest_unknown

    @property
    def _largest_unknown(self) -> float:
        # The smallest known eigenvalue is itself only known to RESIDUAL.
        return float(self.values[-1]) * (1.0 + RESIDUAL)

    def rank(self, epsilon: float) -> Between:
        """The truncation rank at ε."""
        check_share("epsilon", epsilon)
        L, held, captured = len(self.values), self.held, self.captured
        ends = []
        for beyond in self.beyond:
            wanted = (1.0 - epsilon) * (captured + beyond) * (1.0 - SLACK)
            if captured >= wanted:
                r = int(np.argmax(held >= wanted)) + 1
                ends.append((r, r))
                continue
            fewest = L + int((wanted - captured) / self._largest_unknown ** ENERGIES[self.energy])
            most = L + ceil((wanted - captured) / (beyond / (self.order - L)))
            ends.append((min(fewest, self.order), min(most, self.order)))
        return Between(ends[0][0], ends[1][1])

    def dimension(self, lam: float) -> Between:
        """The effective dimension d(λ); λ_j/(λ_j + λ) is concave, so that equal unknown eigenvalues give the most."""
        known = effective_dimension(self.values, lam)
        if self.complete:
            return Between(known, known)
        smallest, beyond = self.values[-1], self.order - len(self.values)
        even = self.rest / beyond
        return Between(
            known + self.rest / (smallest + lam) if smallest + lam > 0 else known,
            known + beyond * even / (even + lam) if even + lam > 0 else known,
        )


def spectrum(kernel: np.ndarray | Kernel) -> Spectrum:
    """Decompose a symmetric positive semi-definite kernel (m, m)."""
    kernel = as_kernel(kernel)
    pairs = kernel.eigenpairs()
    return Spectrum(pairs.values, pairs.vectors, kernel.trace(), pairs.order)


def check_share(name: str, value: float) -> None:
    """Refuse a share outside [0, 1]."""
    if not 0.0 <= value <= 1.0:
        raise DNTKError(f"{name} must lie in [0, 1], got {value}")


def check_energy(name: str) -> None:
    """Refuse an energy that is not in ENERGIES."""
    if name not in ENERGIES:
        raise DNTKError(f"the energy must be one of {', '.join(ENERGIES)}, got {name!r}")


def truncation_rank(eigenvalues: np.ndarray, epsilon: float, energy: str = "gradients") -> int:
    """Find the smallest r >= 1 with Σ_{i<=r} λ_i >= (1-ε) Σ λ_i (Definition "Data redundancy"), or so for λ².

    Negative eigenvalues count as 0; a zero spectrum has rank 1. energy: one of ENERGIES

    >>> values = np.array([6.0, 3.0, 1.0])
    >>> truncation_rank(values, 0.1), truncation_rank(values, 0.25, "kernel")
    (2, 1)
    """
    check_share("epsilon", epsilon)
    check_energy(energy)
    values = np.sort(np.clip(eigenvalues, 0.0, None))[::-1] ** ENERGIES[energy]
    captured = np.cumsum(values)
    enough = captured >= (1.0 - epsilon) * captured[-1] * (1.0 - SLACK)
    return int(np.argmax(enough)) + 1


def data_redundancy(eigenvalues: np.ndarray, epsilon: float, energy: str = "gradients") -> float:
    """Return the largest r for which the inputs are (r, ε)-data-redundant: m / r_trunc(ε).

    >>> data_redundancy(np.array([9.0, 1.0, 0.0, 0.0]), 0.1)
    4.0
    """
    return len(eigenvalues) / truncation_rank(eigenvalues, epsilon, energy)


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


@dataclass(frozen=True)
class ParameterRedundancy:
    """(P/r, ε′)-parameter redundancy by the proposition on JL projections.

    rank:       r, the truncation rank of the projected kernel at δ = epsilon
    factor:     P / r, how many times fewer parameter directions suffice
    tail:       √(δ λ_{r+1} / λ̄), the paper's bound on ‖K - K_r‖_F / ‖K‖_F
    exact_tail: √(Σ_{i>r} λ_i² / Σ λ_i²), that ratio itself; never above `tail`
    jl:         √((1+d)/k) with d = tr(K)²/‖K‖_F², the expected relative Frobenius error of the projection
    epsilon:    ε′ = tail + jl

    Of incomplete spectra r is the most it may be, and the errors are the largest they may be.
    """

    rank: int
    factor: float
    tail: float
    exact_tail: float
    jl: float
    epsilon: float


def parameter_redundancy(spectrum: Spectrum, parameters: int, k: int, epsilon: float) -> ParameterRedundancy:
    """Evaluate ε′ of the parameter-redundancy proposition from the projected kernel's spectrum.

    The paper bounds the *squared* error by δ λ_{r+1}/λ̄ and then adds it to ε_JL; the definition of
    redundancy is about the error itself, so its root is added here.
    """
    values, r = spectrum.values, int(spectrum.rank(epsilon).high)
    # No eigenvalue that is not known is larger than the last that is.
    last = 0.0 if spectrum.complete else float(values[-1])
    mean, energy = spectrum.trace / spectrum.m, float(np.sum(values**2))
    following = float(values[r]) if r < len(values) else last
    tail = float(np.sqrt(epsilon * following / mean)) if mean > 0 else 0.0
    exact = float(np.sqrt((np.sum(values[r:] ** 2) + spectrum.rest * last) / energy)) if energy > 0 else 0.0
    jl = float(np.sqrt((1.0 + spectrum.trace**2 / energy) / k)) if energy > 0 else 0.0
    return ParameterRedundancy(r, parameters / r, tail, exact, jl, tail + jl)
