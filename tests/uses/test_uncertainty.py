"""Posterior variances and noise scales against Gaussian processes written out."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import multivariate_normal, norm

from dntk_core.base.errors import DNTKError
from dntk_core.distill import METHODS
from dntk_core.kernels.feature_kernels import FeatureKernels
from dntk_core.kernels.ridge import absolute_ridge
from dntk_core.uses.uncertainty import (
    distilled_variance,
    full_variance,
    left_out_likelihood,
    marginal_likelihood,
    noise,
    probit,
    squared_norms,
)
from tests.synthetic import draw, examples, seeds, source_of

RIDGES = [1e-3, 1e-2, 1e-1]


@pytest.mark.parametrize("kept", [False, True], ids=["dense", "features"])
def test_the_full_variance_is_that_of_the_gaussian_process(kept):
    drawn = draw(0)
    kernels = FeatureKernels(drawn.features, drawn.test_features) if kept else drawn.kernels
    lam = absolute_ridge(kernels, 1e-2)
    found = full_variance(kernels.modes(drawn.problem.targets), squared_norms(drawn.test_features), lam)
    for c in range(3):
        joint = np.vstack([drawn.features[c], drawn.test_features[c]])
        K = joint @ joint.T
        posterior = K[24:, 24:] - K[24:, :24] @ np.linalg.solve(K[:24, :24] + lam * np.eye(24), K[:24, 24:])
        np.testing.assert_allclose(found[:, c], np.diag(posterior), rtol=1e-6, atol=1e-9)


@examples
@given(seeds, st.sampled_from(sorted(METHODS)), st.integers(3, 20), st.floats(-4, 0))
def test_a_distilled_kernel_is_never_surer_than_the_full_one(seed, method, size, exponent):
    drawn, ridge = draw(seed), 10.0**exponent
    lam, norms = absolute_ridge(drawn.kernels, ridge), squared_norms(drawn.test_features)
    mixing = METHODS[method].distil(source_of(drawn.problem), size, ridge, 0)
    full = full_variance(drawn.kernels.modes(drawn.problem.targets), norms, lam)
    assert (distilled_variance(drawn.kernels, mixing, norms, lam) >= full - 1e-9 * norms.T).all()


def test_with_every_gradient_it_is_as_sure():
    drawn = draw(1)
    lam, norms = absolute_ridge(drawn.kernels, 1e-2), squared_norms(drawn.test_features)
    mixing = METHODS["kernel PCA"].distil(source_of(drawn.problem), 24, 1e-2, 0)
    full = full_variance(drawn.kernels.modes(drawn.problem.targets), norms, lam)
    np.testing.assert_allclose(distilled_variance(drawn.kernels, mixing, norms, lam), full, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("kept", [False, True], ids=["dense", "features"])
def test_likelihoods_are_those_of_the_gaussian_process(kept):
    drawn = draw(2, k=15)
    kernels = FeatureKernels(drawn.features, drawn.test_features) if kept else drawn.kernels
    modes, Y = kernels.modes(drawn.problem.targets), drawn.problem.targets
    whole, left = (function(kernels, modes, RIDGES) for function in (marginal_likelihood, left_out_likelihood))
    for q, ridge in enumerate(RIDGES):
        lam = absolute_ridge(kernels, ridge)
        density = np.zeros(2)
        for c, y in enumerate(Y.T):
            shape = drawn.kernels.train[c] + lam * np.eye(24)
            density[0] += multivariate_normal(np.zeros(24), whole.scale[q, c] * shape).logpdf(y) / 24
            G = np.linalg.inv(shape)
            mean, variance = y - G @ y / np.diag(G), left.scale[q, c] / np.diag(G)
            density[1] += norm(mean, np.sqrt(variance)).logpdf(y).mean()
        np.testing.assert_allclose([whole.likelihood[q], left.likelihood[q]], density / 3, rtol=1e-6)
    assert whole.best in RIDGES and (whole.scale_at(1e-2) == whole.scale[1]).all()


def test_the_scale_is_where_the_density_is_largest():
    drawn = draw(3)
    modes, y = drawn.kernels.modes(drawn.problem.targets), drawn.problem.targets[:, 0]
    scale = marginal_likelihood(drawn.kernels, modes, [1e-2]).scale[0, 0]
    shape = drawn.kernels.train[0] + absolute_ridge(drawn.kernels, 1e-2) * np.eye(24)
    densities = [multivariate_normal(np.zeros(24), factor * scale * shape).logpdf(y) for factor in (0.9, 1.0, 1.1)]
    assert max(densities) == densities[1]


def test_noise_that_made_the_targets_is_found():
    drawn, generator = draw(4, C=1, m=200, k=30), np.random.default_rng(0)
    w = generator.standard_normal(30)
    y = drawn.features[0] @ w + 0.5 * generator.standard_normal(200)
    modes = drawn.kernels.modes(y[:, None])
    ridges = [10.0**power for power in np.arange(-4, 2, 0.25)]
    true = 0.25 / drawn.kernels.scale
    for name in ("marginal likelihood", "leave-one-out"):
        assert true / 3 < noise(name, drawn.kernels, modes, ridges).best < true * 3
    with pytest.raises(DNTKError, match="marginal likelihood, leave-one-out"):
        noise("guess", drawn.kernels, modes, ridges)


def test_doubt_makes_probabilities_even():
    mean = np.array([[2.0, 0.0]])
    sure, unsure = probit(mean, np.zeros((1, 2)))[0], probit(mean, np.full((1, 2), 1e6))[0]
    assert sure[0] == pytest.approx(1 / (1 + np.exp(-2))) and unsure[0] == pytest.approx(0.5, abs=2e-3)
