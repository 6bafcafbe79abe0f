"""The paper's error budget, evaluated on a problem; ASSUMPTIONS says what each number rests on."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dntk_core.cache.rows import Array
from dntk_core.kernels.class_kernels import ClassKernels, Kernels, kernels_from_features
from dntk_core.kernels.feature_kernels import FeatureKernels
from dntk_core.kernels.modes import Modes
from dntk_core.kernels.ridge import absolute_ridge
from dntk_core.kernels.spectrum import effective_dimension
from dntk_core.readout.problem import Problem

RIDGES = tuple(10.0**power for power in range(-10, 3))

ASSUMPTIONS = {
    "approx": "The best linear model in the gradients is estimated by the full kernel at the ridge that is best on the "
    "test inputs, so E_approx also holds some bias and variance.",
    "bias": "The covariance of the gradients is that of the m kernel inputs, and w* the minimum-norm fit to them; "
    "E_bias is then the readout's own root mean square residual there.",
    "variance": "The residual f - f_K* behaves like independent noise of variance E_approx², and the m kernel inputs "
    "like a sample of the test distribution; distilled inputs are not one.",
    "projection": "The k projected dimensions are independent draws, and the squared error falls with their number as "
    "e + b/(k - d), d the degrees of freedom of the fit; b is found by leaving out eighths of them. On digits this "
    "gives 0.029 for the squared error of the exact kernel, which is 0.028.",
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
    best:      (C,)  the dimensionless ridge that is best on the test inputs, at which E_approx is measured
    freedom:   (C,)  d(λ) at that ridge
    """

    r_squared: np.ndarray
    approx: np.ndarray
    bias: np.ndarray
    variance: np.ndarray
    dimension: np.ndarray
    measured: np.ndarray
    best: np.ndarray
    freedom: np.ndarray


def error_budget(problem: Problem, ridge: float, modes: Sequence[Modes] | None = None) -> ErrorBudget:
    """Evaluate the three error terms of the full readout at a dimensionless ridge.

    With μ_j = σ_j/m and β_j = u_jᵀy/√σ_j: μ_j β_j² = (u_jᵀy)²/m, and λ/(μ_j+λ) is the same in both units.
    """
    modes = problem.kernels.modes(problem.targets) if modes is None else modes
    lam = absolute_ridge(problem.kernels, ridge)
    m = len(problem.targets)
    errors = squared_errors(problem, modes, (*RIDGES, ridge))
    least = errors.min(axis=1)
    variance = problem.logits.var(axis=0)
    unexplained = np.divide(least, variance, out=np.ones_like(least), where=variance > 0)
    bias = [np.sum((lam / (each.values + lam) * each.load) ** 2) + each.outside @ each.outside for each in modes]
    dimension = np.array([effective_dimension(each.values, lam) for each in modes])
    best = np.array((*RIDGES, ridge))[errors.argmin(axis=1)]
    lams = [absolute_ridge(problem.kernels, each) for each in best]
    return ErrorBudget(
        r_squared=1.0 - unexplained,
        approx=np.sqrt(least),
        bias=np.sqrt(np.array(bias) / m),
        variance=np.sqrt(least * dimension / m),
        dimension=dimension,
        measured=np.sqrt(errors[:, -1]),
        best=best,
        freedom=np.array([effective_dimension(each.values, lam) for each, lam in zip(modes, lams, strict=True)]),
    )


def squared_errors(problem: Problem, modes: Sequence[Modes], ridges: Sequence[float]) -> np.ndarray:
    """Return the full readout's mean squared error on the test inputs, per class and ridge: (C, q)."""
    lams = np.array([absolute_ridge(problem.kernels, ridge) for ridge in ridges])
    fits = (each.predict(each.load[:, None] / (each.values[:, None] + lams)) for each in modes)
    return np.stack([np.mean((fit - f[:, None]) ** 2, axis=0) for fit, f in zip(fits, problem.logits.T, strict=True)])


@dataclass(frozen=True)
class Approximation:
    """E_approx² = projection² + nonlinear², per class, as root mean squares of logits.

    projection: (C,)  what projecting the gradients adds to the error
    nonlinear:  (C,)  what is left: the network is not linear in its gradients
    """

    projection: np.ndarray
    nonlinear: np.ndarray


def split_approximation(
    features: Array, test_features: Array, problem: Problem, budget: ErrorBudget, groups: int = 8
) -> Approximation:
    """Tell the projection's part of E_approx from the network's; features (C, m, k), (C, t, k).

    The squared error of a ridge fit with d degrees of freedom on k random features is e + b/(k - d). Leaving out one of
    g groups of the features in turn measures it at k' = k (g-1)/g, and so b/(k - d) = (E(k') - E(k)) (k' - d)/(k - k').
    """
    k = features.shape[2]
    lams = np.array([absolute_ridge(problem.kernels, ridge) for ridge in budget.best])
    parts = np.array_split(np.random.default_rng(0).permutation(k), groups)
    fewer = [_squared_errors(_without(problem.kernels, features, test_features, part), problem, lams) for part in parts]
    kept = k * (groups - 1) / groups
    grown = np.mean(fewer, axis=0) - budget.approx**2
    added = np.clip(grown * np.clip(kept - budget.freedom, 0.0, None) / (k - kept), 0.0, budget.approx**2)
    return Approximation(np.sqrt(added), np.sqrt(budget.approx**2 - added))


def _squared_errors(kernels: ClassKernels, problem: Problem, lams: np.ndarray) -> np.ndarray:
    """Mean squared error on the test inputs of the full readout of other kernels, class c at lams[c]: (C,)."""
    fits = kernels.predict(kernels.solve(problem.targets, lams)[..., None])
    return np.array([np.mean((fit[:, 0] - f) ** 2) for fit, f in zip(fits, problem.logits.T, strict=True)])


def _without(kernels: ClassKernels, features: Array, test_features: Array, part: np.ndarray) -> ClassKernels:
    """The kernels without some of the features, scaled to be as large as before."""
    k = features.shape[2]
    scale = k / (k - len(part))
    if isinstance(kernels, Kernels):
        left_out = kernels_from_features(features[..., part], test_features[..., part])
        return Kernels(scale * (kernels.train - left_out.train), scale * (kernels.cross - left_out.cross))
    kept = np.setdiff1d(np.arange(k), part)
    return FeatureKernels(np.sqrt(scale) * features[..., kept], np.sqrt(scale) * test_features[..., kept])
