"""The ridge in the kernel's own units."""

import numpy as np
import pytest

from dntk_core.base.errors import DNTKError
from dntk_core.kernels.class_kernels import Kernels
from dntk_core.kernels.ridge import FLOOR, absolute_ridge
from dntk_core.readout.ridge import predict
from tests.synthetic import draw, with_kernel


def test_the_ridge_is_in_units_of_the_mean_diagonal():
    drawn = draw(1)
    diagonal = np.mean([np.sum(Phi**2, axis=1).mean() for Phi in drawn.features])
    assert absolute_ridge(drawn.kernels, 0.01) == pytest.approx(0.01 * diagonal)
    scaled = Kernels(100 * drawn.kernels.train, 100 * drawn.kernels.cross)
    before = predict(drawn.kernels, drawn.problem.targets, None, 1e-3)
    np.testing.assert_allclose(predict(scaled, drawn.problem.targets, None, 1e-3), before, rtol=1e-9)


@pytest.mark.parametrize("ridge", [-1e-9, float("nan"), float("inf")])
def test_impossible_ridges_are_refused(ridge):
    with pytest.raises(DNTKError, match="ridge"):
        absolute_ridge(draw(0).kernels, ridge)


def test_no_ridge_is_the_least_that_a_singular_kernel_bears_and_a_zero_kernel_bears_any():
    kernels = draw(0).kernels
    assert absolute_ridge(kernels, 0.0) == pytest.approx(FLOOR * np.trace(kernels.train, axis1=1, axis2=2).max())
    assert absolute_ridge(with_kernel(np.zeros((6, 6))).kernels, 0.0) == 1.0
