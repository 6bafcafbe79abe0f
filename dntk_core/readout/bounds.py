"""The paper's error budget, evaluated on a problem; ASSUMPTIONS says what each number rests on."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dntk_core.base.errors import DNTKError
from dntk_core.gradients.johnson_lindenstrauss import guaranteed_epsilon
from dntk_core.kernels.class_kernels import LARGEST_DENSE, Kernels
from dntk_core.kernels.ridge import absolute_ridge
from dntk_core.kernels.spectrum import Spectrum, effective_dimension, stable_dimension
from dntk_core.readout.modes import Modes, class_modes
from dntk_core.readout.ridge import Problem, predict

RIDGES = tuple(10.0**power for power in range(-10, 3))

ASSUMPTIONS = {
    "approx": "The best linear model in the gradients is estimated by the full kernel at the ridge that is best on the "
    "test inputs, so E_approx also holds some bias and variance.",
    "bias": "The covariance of the gradients is that of the m kernel inputs, and w* the minimum-norm fit to them; "
    "E_bias is then the readout's own root mean square residual there.",
    "variance": "The residual f - f_K* behaves like independent noise of variance E_approx², and the m kernel inputs "
    "like a sample of the test distribution; distilled inputs are not one.",
    "kernel_error": "The projection has independent random signs; d is taken from the projected kernel.",
    "bound": "Every kernel entry is kept to a relative ε_JL. The bound is very conservative: it takes the worst "
    "direction at every step and divides by λ².",
}


@dataclass(frozen=True)
class ErrorBudget:
    """E[(f - f_K)²]^½ <= E_approx + E_bias(λ) + E_var(n, λ), per class, as root mean squares of logits.

    r_squared: (C,)  R², share of the test logits' variance that the best ridge explains
    approx:    (C,)  E_approx = √((1-R²) Var f)
    bias:      (C,)  E_bias = √(Σ_j (λ/(μ_j+λ))² μ_j β_j²)
    variance:  (C,)  E_var = √(σ² d(λ)/m), σ² = E_approx²
    dimension: (C,)  d(λ)
    measured:  (C,)  the root mean square error on the test inputs that the three terms should bound
    """

    r_squared: np.ndarray
    approx: np.ndarray
    bias: np.ndarray
    variance: np.ndarray
    dimension: np.ndarray
    measured: np.ndarray


def error_budget(problem: Problem, ridge: float, spectra: tuple[Spectrum, ...] | None = None) -> ErrorBudget:
    """Evaluate the three error terms of the full readout at a dimensionless ridge.

    With μ_j = σ_j/m and β_j = u_jᵀy/√σ_j: μ_j β_j² = (u_jᵀy)²/m, and λ/(μ_j+λ) is the same in both units.
    """
    modes = class_modes(problem, spectra)
    lam = absolute_ridge(problem.kernels, ridge)
    m = len(problem.targets)
    errors = squared_errors(problem, modes, (*RIDGES, ridge))
    least = errors.min(axis=1)
    variance = problem.logits.var(axis=0)
    unexplained = np.divide(least, variance, out=np.ones_like(least), where=variance > 0)
    bias = [np.sqrt((np.sum((lam / (each.values + lam) * each.load) ** 2) + each.outside) / m) for each in modes]
    dimension = np.array([effective_dimension(each.values, lam) for each in modes])
    return ErrorBudget(
        r_squared=1.0 - unexplained,
        approx=np.sqrt(least),
        bias=np.array(bias),
        variance=np.sqrt(least * dimension / m),
        dimension=dimension,
        measured=np.sqrt(errors[:, -1]),
    )


def squared_errors(problem: Problem, modes: Sequence[Modes], ridges: Sequence[float]) -> np.ndarray:
    """Return the full readout's mean squared error on the test inputs, per class and ridge: (C, q)."""
    lams = np.array([absolute_ridge(problem.kernels, ridge) for ridge in ridges])
    fits = (each.predict(each.load[:, None] / (each.values[:, None] + lams)) for each in modes)
    return np.stack([np.mean((fit - f[:, None]) ** 2, axis=0) for fit, f in zip(fits, problem.logits.T, strict=True)])


@dataclass(frozen=True)
class ProjectionBound:
    """What a projection to k dimensions can cost, from the projected kernels alone.

    epsilon:      ε_JL = √(8 ln n / k), the lemma's distortion of distances between n = m + t gradients
    kernel_error: (C,)  √((1+d)/k), d = tr(K)²/‖K‖_F²: expected ‖K̃ - K‖_F / ‖K‖_F
    bound:        (C,)  E_JL <= ε_JL ‖K*‖ ‖y‖ (1/λ + ‖K‖₂/λ²), as a root mean square over the test inputs
    """

    epsilon: float
    kernel_error: np.ndarray
    bound: np.ndarray


def projection_bound(kernels: Kernels, targets: np.ndarray, k: int, ridge: float) -> ProjectionBound:
    """Evaluate the paper's bound on the error of a k-dimensional projection; targets (m, C)."""
    if k < 1:
        raise DNTKError(f"the projected dimension k must be at least 1, got {k}")
    if not kernels.dense:
        raise DNTKError(f"the worst-case bound needs kernels as arrays, which are kept up to {LARGEST_DENSE:,} inputs")
    _, t, m = kernels.cross.shape
    lam = absolute_ridge(kernels, ridge)
    epsilon = guaranteed_epsilon(m + t, k)
    values = np.clip(np.linalg.eigvalsh(kernels.train), 0.0, None)
    reach = np.array([np.linalg.norm(K, 2) for K in kernels.cross]) * np.linalg.norm(targets, axis=0)
    return ProjectionBound(
        epsilon,
        np.sqrt((1.0 + np.array([stable_dimension(each) for each in values])) / k),
        epsilon * reach * (1.0 / lam + values[:, -1] / lam**2) / np.sqrt(t),
    )


@dataclass(frozen=True)
class ProjectionError:
    """What a projection did cost, where the exact kernels are known.

    kernel_error: (C,)  ‖K̃ - K‖_F / ‖K‖_F
    prediction:   (C,)  root mean square of f̃_K - f_K over the test inputs
    """

    kernel_error: np.ndarray
    prediction: np.ndarray


def projection_error(projected: Kernels, exact: Kernels, targets: np.ndarray, ridge: float) -> ProjectionError:
    """Compare projected with exact kernels: entries, and the full readouts fitted to targets (m, C)."""
    norms = np.linalg.norm(exact.train, axis=(1, 2))
    distance = np.linalg.norm(projected.train - exact.train, axis=(1, 2))
    change = predict(projected, targets, None, ridge) - predict(exact, targets, None, ridge)
    return ProjectionError(
        np.divide(distance, norms, out=np.zeros_like(norms), where=norms > 0), np.sqrt(np.mean(change**2, axis=0))
    )
