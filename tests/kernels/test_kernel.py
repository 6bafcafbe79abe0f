"""What every kernel answers: no more, and the same however it is kept."""

import numpy as np
import pytest

from dntk_core.kernels.features import FeatureKernel
from dntk_core.kernels.kernel import DenseKernel, as_kernel, row_means
from tests.synthetic import draw

PHI = draw(0, C=1).features
KERNELS = {"array": DenseKernel(PHI[0] @ PHI[0].T), "features": FeatureKernel(PHI)}


@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
def test_no_kernel_poses_as_an_array(kernel):
    with pytest.raises(TypeError):
        kernel[1:3]
    with pytest.raises(TypeError):
        len(kernel)


@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
def test_its_eigenpairs_and_row_means_are_those_of_the_array(kernel):
    K = PHI[0] @ PHI[0].T
    pairs = kernel.eigenpairs()
    np.testing.assert_allclose((pairs.vectors * pairs.values) @ pairs.vectors.T, K, atol=1e-9 * np.trace(K))
    assert np.all(np.diff(pairs.values) <= 0) and len(pairs.values) <= pairs.order <= 24
    np.testing.assert_allclose(row_means(kernel), K.mean(axis=1), rtol=1e-9, atol=1e-12)


def test_an_array_is_taken_for_a_kernel_and_a_kernel_for_itself():
    assert as_kernel(KERNELS["features"]) is KERNELS["features"]
    assert as_kernel(np.eye(3)).trace() == 3.0
