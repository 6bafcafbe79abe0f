import numpy as np
import pytest

from dntk_core.kernels.class_kernels import kernels_from_features
from dntk_core.kernels.ridge import absolute_ridge
from dntk_core.readout.bounds import ASSUMPTIONS, error_budget, split_approximation
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


def test_what_the_projection_adds_is_told_from_what_the_network_does():
    """Linear and bent outputs of 600 gradients, seen through 256 and 1024 random ones."""
    rng = np.random.default_rng(0)
    m, t, P = 80, 400, 600
    Phi, test = (rng.standard_normal((2, n, P)) * np.exp(-np.arange(P) / 40) for n in (m, t))
    w, shapes = rng.standard_normal((2, P)), {}
    for name, bent in (("linear", 0.0), ("bent", 1.0)):
        targets, logits = ((f := np.einsum("cik,ck->ic", each, w)) + bent * np.sin(3 * f) for each in (Phi, test))
        for k in (256, 1024):
            R = rng.choice([-1.0, 1.0], size=(P, k)) / np.sqrt(k)
            problem = Problem(kernels_from_features(Phi @ R, test @ R), targets, logits, logits.argmax(axis=1))
            budget = error_budget(problem, 1e-3)
            parts = split_approximation(Phi @ R, test @ R, problem, budget)
            np.testing.assert_allclose(parts.projection**2 + parts.nonlinear**2, budget.approx**2)
            exact = Problem(kernels_from_features(Phi, test), targets, logits, logits.argmax(axis=1))
            shapes[name, k] = parts, budget, error_budget(exact, 1e-3)
    for name in ("linear", "bent"):
        # What is left is the exact kernel's own error; the projection's share shrinks with k.
        parts, _, exact = shapes[name, 1024]
        np.testing.assert_allclose(parts.nonlinear**2, exact.approx**2, rtol=0.3)
        assert np.all(parts.projection < 0.75 * shapes[name, 256][0].projection)


def test_every_number_states_its_assumption():
    assert {"approx", "bias", "variance", "projection"} == set(ASSUMPTIONS)
