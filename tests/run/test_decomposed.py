import numpy as np
import pytest

from dntk_core.kernels.clusters import spectral_clusters
from dntk_core.kernels.structure import containment, coverage
from dntk_core.run.live import Live
from tests.synthetic import draw


@pytest.fixture(scope="module")
def live():
    return Live(draw(0, t=40).problem, seed=3)


@pytest.mark.parametrize("c", [None, 0, 2])
def test_analyses_of_any_kernel_are_the_plain_ones(live, c):
    kernels = live.problem.kernels
    K = kernels.mean if c is None else kernels.train[c]
    labels = spectral_clusters(K, 4, 3)
    np.testing.assert_array_equal(live.labels(4, c), labels)
    np.testing.assert_allclose(live.spectrum(c).values, np.linalg.eigvalsh(K)[::-1], atol=1e-9)
    np.testing.assert_allclose(live.containment(4, 0.1, c).curves, containment(K, labels, 0.1).curves)
    np.testing.assert_allclose(live.coverage(4, 0.1, c).union, coverage(K, labels, 0.1).union)


def test_random_clusters_are_of_the_same_sizes_and_their_own_null(live):
    null = live.random_containments(4, 0.1)
    assert len(null) == 5
    for each in null:
        assert sorted(each.sizes) == sorted(live.containment(4, 0.1).sizes)
    uncovered = [each.misaligned for each in live.random_coverages(4, 0.1)]
    assert len(set(uncovered)) > 1 and all(0 <= each <= 1 for each in uncovered)
