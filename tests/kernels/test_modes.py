"""The full readout in the eigenvectors of a class kernel, against the same without them."""

import numpy as np
import pytest

from dntk_core.kernels.feature_kernels import FeatureKernels
from dntk_core.kernels.modes import Modes
from tests.synthetic import draw


@pytest.fixture(params=["arrays", "features"])
def modes(request) -> tuple[Modes, ...]:
    """Of 24 inputs in 10 dimensions: most targets lie outside the kernel's range."""
    drawn = draw(0, k=10)
    kernels = drawn.kernels if request.param == "arrays" else FeatureKernels(drawn.features, drawn.test_features)
    return kernels.modes(drawn.problem.targets)


def test_targets_are_what_the_eigenvectors_hold_and_what_they_do_not(modes):
    for each, y in zip(modes, draw(0, k=10).problem.targets.T, strict=True):
        np.testing.assert_allclose(each.combine(each.load[:, None])[:, 0] + each.outside, y, atol=1e-6)
        assert np.abs(each.combine(each.load[:, None])[:, 0] @ each.outside) < 1e-6


@pytest.mark.parametrize("lam", [1e-2, 1.0])
def test_the_readout_in_modes_is_the_ridge_solution(modes, lam):
    drawn = draw(0, k=10)
    for each, Phi, test, y in zip(modes, drawn.features, drawn.test_features, drawn.problem.targets.T, strict=True):
        inverse = np.linalg.inv(Phi @ Phi.T + lam * np.eye(24))
        c = (each.load / (each.values + lam))[:, None]
        np.testing.assert_allclose(each.combine(c)[:, 0] + each.outside / lam, inverse @ y, atol=1e-5)
        np.testing.assert_allclose(each.predict(c)[:, 0], test @ Phi.T @ inverse @ y, atol=1e-5)
        # The smoother's diagonal, to which eigenvalues that are 0 add nothing.
        shares = (each.values / (each.values + lam))[:, None]
        np.testing.assert_allclose(each.weigh(shares)[:, 0], np.diag(Phi @ Phi.T @ inverse), atol=1e-6)
