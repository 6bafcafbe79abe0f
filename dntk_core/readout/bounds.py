"""The paper's error budget, evaluated on a problem; ASSUMPTIONS says what each number rests on."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dntk_core.kernels.class_kernels import kernels_by_size
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
    "projection": "Two halves of the projected gradients are taken for two independent projections. Half the squared "
    "difference of their predictions is what a projection to k/2 dimensions adds to the squared error; one to k "
    "dimensions is taken to add half of that.",
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
    """

    r_squared: np.ndarray
    approx: np.ndarray
    bias: np.ndarray
    variance: np.ndarray
    dimension: np.ndarray
    measured: np.ndarray
    best: np.ndarray


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
    return ErrorBudget(
        r_squared=1.0 - unexplained,
        approx=np.sqrt(least),
        bias=np.sqrt(np.array(bias) / m),
        variance=np.sqrt(least * dimension / m),
        dimension=dimension,
        measured=np.sqrt(errors[:, -1]),
        best=np.array((*RIDGES, ridge))[errors.argmin(axis=1)],
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
    features: np.ndarray, test_features: np.ndarray, problem: Problem, budget: ErrorBudget, splits: int = 2
) -> Approximation:
    """Tell the projection's part of E_approx from the network's, from halves of the k features (C, m, k), (C, t, k).

    Two halves, each scaled by √2, are independent projections to k/2 dimensions. Their predictions differ by the
    projection's variance alone: E (f₁ - f₂)²/2 at k/2, and half of that at k.
    """
    k = features.shape[2]
    lams = [absolute_ridge(problem.kernels, ridge) for ridge in budget.best]
    added = np.zeros(len(lams))
    for split in range(splits):
        halves = np.array_split(np.random.default_rng(split).permutation(k), 2)
        first, second = (_projected_again(features, test_features, half, problem.targets, lams) for half in halves)
        added += np.mean((first - second) ** 2, axis=0) / 4 / splits
    added = np.minimum(added, budget.approx**2)
    return Approximation(np.sqrt(added), np.sqrt(budget.approx**2 - added))


def _projected_again(
    features: np.ndarray, test_features: np.ndarray, kept: np.ndarray, targets: np.ndarray, lams: Sequence[float]
) -> np.ndarray:
    """Predict the test logits from some of the features, class c at lams[c]: (t, C)."""
    scale = np.sqrt(features.shape[2] / len(kept))
    kernels = kernels_by_size(features[..., kept] * scale, test_features[..., kept] * scale)
    modes = zip(kernels.modes(targets), lams, strict=True)
    return np.stack([each.predict(each.load / (each.values + lam)) for each, lam in modes], axis=1)
