import numpy as np
import pytest

from dntk_core.base.errors import DNTKError
from dntk_core.kernels.class_kernels import kernels_from_features
from dntk_core.kernels.ridge import absolute_ridge
from dntk_core.readout.bounds import ASSUMPTIONS, error_budget, projection_bound, projection_error
from dntk_core.readout.problem import Problem
from dntk_core.readout.ridge import predict
from tests.synthetic import draw, with_kernel

RIDGE = 1e-2


def test_bias_is_the_papers_sum_over_the_covariance():
    drawn = draw(0)
    lam = absolute_ridge(drawn.kernels, RIDGE) / 24
    budget = error_budget(drawn.problem, RIDGE)
    for c, (Phi, y) in enumerate(zip(drawn.features, drawn.problem.targets.T, strict=True)):
        mu, V = np.linalg.eigh(Phi.T @ Phi / 24)
        beta = V.T @ np.linalg.lstsq(Phi, y, rcond=None)[0]
        terms = (lam / (np.clip(mu, 0, None) + lam)) ** 2 * mu * beta**2
        assert budget.bias[c] == pytest.approx(np.sqrt(terms.sum()), rel=1e-6)
        assert budget.dimension[c] == pytest.approx(np.sum(mu / (mu + lam)), rel=1e-6)


def test_approximation_and_measured_error_are_held_out_residuals():
    problem = draw(1, t=60).problem
    budget = error_budget(problem, RIDGE)
    measured = np.sqrt(np.mean((predict(problem.kernels, problem.targets, None, RIDGE) - problem.logits) ** 2, axis=0))
    np.testing.assert_allclose(budget.measured, measured, rtol=1e-6)
    assert np.all(budget.approx <= budget.measured + 1e-12)
    np.testing.assert_allclose(budget.approx**2, (1 - budget.r_squared) * problem.logits.var(axis=0))
    np.testing.assert_allclose(budget.variance, budget.approx * np.sqrt(budget.dimension / 24))


def test_a_linear_network_has_no_approximation_error():
    drawn = draw(2, m=60, k=20, t=40)
    weights = np.random.default_rng(0).standard_normal((3, 20))
    targets, logits = (np.einsum("cik,ck->ic", f, weights) for f in (drawn.features, drawn.test_features))
    budget = error_budget(Problem(drawn.kernels, targets, logits, drawn.problem.labels), 1e-6)
    np.testing.assert_allclose(budget.r_squared, 1.0, atol=1e-6)


def test_budgets_of_degenerate_kernels_are_finite():
    for kernel in (np.zeros((6, 6)), np.ones((6, 6))):
        budget = error_budget(with_kernel(kernel), 0.0)
        for values in (budget.approx, budget.bias, budget.variance, budget.r_squared, budget.measured):
            assert np.all(np.isfinite(values))


def test_a_real_projection_stays_below_its_bound_and_near_its_expectation():
    drawn = draw(3, m=30, k=300)
    k = 100
    R = np.random.default_rng(0).choice([-1.0, 1.0], size=(300, k)) / np.sqrt(k)
    projected = kernels_from_features(drawn.features @ R, drawn.test_features @ R)
    bound = projection_bound(projected, drawn.problem.targets, k, RIDGE)
    error = projection_error(projected, drawn.kernels, drawn.problem.targets, RIDGE)
    assert np.all(error.prediction <= bound.bound)
    assert bound.epsilon == pytest.approx(np.sqrt(8 * np.log(47) / k))
    np.testing.assert_allclose(error.kernel_error, bound.kernel_error, rtol=0.6)
    for c in range(3):
        exact, guess = drawn.kernels.train[c], projected.train[c]
        assert error.kernel_error[c] == pytest.approx(np.linalg.norm(guess - exact) / np.linalg.norm(exact))


def test_no_projection_has_no_error():
    drawn = draw(4)
    error = projection_error(drawn.kernels, drawn.kernels, drawn.problem.targets, RIDGE)
    assert not error.kernel_error.any() and not error.prediction.any()
    with pytest.raises(DNTKError, match="k must be"):
        projection_bound(drawn.kernels, drawn.problem.targets, 0, RIDGE)


def test_every_number_states_its_assumption():
    assert {"approx", "bias", "variance", "kernel_error", "bound"} == set(ASSUMPTIONS)
