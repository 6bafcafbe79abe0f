"""k-means: a fixed point of Lloyd's steps, the best of several starts, no cluster empty."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dntk_core.base.errors import DNTKError
from dntk_core.kernels.kmeans import fill_empty, kmeans, squared_distances
from tests.synthetic import examples, seeds


@examples
@given(seeds, st.integers(1, 12))
def test_kmeans_ends_where_no_point_prefers_another_centre(seed, H):
    points = np.random.default_rng(seed).standard_normal((40, 3))
    labels = kmeans(points, H, np.random.default_rng(0), iterations=500)
    centres = np.stack([points[labels == h].mean(axis=0) for h in range(H)])
    distances = np.sum((points[:, None] - centres) ** 2, axis=2)
    np.testing.assert_array_equal(distances.argmin(axis=1), labels)


def test_kmeans_keeps_the_best_of_its_starts():
    generator = np.random.default_rng(1)
    centres = np.array([[0, 0], [1, 0], [0, 1], [30, 0], [31, 0], [30, 1], [0, 30], [1, 30]])
    truth = np.append(np.arange(8), generator.integers(8, size=92))
    points = centres[truth] + 0.05 * generator.standard_normal((100, 2))
    alone = [np.array_equal(kmeans(points, 8, np.random.default_rng(seed), restarts=1), truth) for seed in range(20)]
    assert not all(alone)
    for seed in range(20):
        np.testing.assert_array_equal(kmeans(points, 8, np.random.default_rng(seed), restarts=30), truth)


@pytest.mark.parametrize("H", [1, 3, 5])
def test_equal_points_still_fill_every_cluster(H):
    labels = kmeans(np.repeat([[1.0, 2.0], [3.0, 4.0]], [4, 1], axis=0), H, np.random.default_rng(0))
    np.testing.assert_array_equal(np.unique(labels), np.arange(H))


@pytest.mark.parametrize("H", [0, 10])
def test_more_clusters_than_points_are_refused(H):
    with pytest.raises(DNTKError, match=r"1\.\.9"):
        kmeans(np.eye(9), H, np.random.default_rng(0))


def test_an_empty_cluster_takes_the_point_farthest_from_its_own_centre():
    points = np.array([[0.0], [1.0], [7.0], [100.0]])
    distances = squared_distances(points, np.array([[0.0], [50.0], [100.0]]))
    # The last point is alone in its cluster and stays there.
    np.testing.assert_array_equal(fill_empty(np.array([0, 0, 0, 2]), distances), [0, 0, 1, 2])
