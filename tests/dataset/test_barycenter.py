"""Barycenters against exact optimal transport."""

import numpy as np
import ot
import pytest

from dntk_core.base.errors import DNTKError
from dntk_core.dataset.barycenter import free_barycenter, nearest_images, uniform_barycenter


def clouds(count):
    """Small classes of every awkward kind: scattered, tightly clustered, full of equal points."""
    for seed in range(count):
        rng = np.random.default_rng(seed)
        n, d = int(rng.integers(2, 40)), int(rng.integers(1, 5))
        size = int(rng.integers(1, min(n, 8) + 1))
        scattered = rng.standard_normal((n, d))
        clustered = 5 * rng.standard_normal((size, d))[rng.integers(size, size=n)] + 0.1 * scattered
        lattice = rng.integers(0, 3, (n, d)).astype(float)
        yield (scattered, clustered, lattice)[seed % 3], size


def transport(features, barycenter):
    """W2² by exact transport."""
    mass = np.full(len(features), 1 / len(features))
    return ot.emd2(mass, barycenter.weights, ot.dist(features, barycenter.points))


def test_free_weights_cost_what_exact_transport_says():
    for features, size in clouds(150):
        found = free_barycenter(features, size, np.random.default_rng(0))
        assert found.points.shape == (size, features.shape[1])
        assert found.weights.min() > 0 and found.weights.sum() == pytest.approx(1)
        assert abs(found.cost - transport(features, found)) <= 1e-9


# Clouds on which k-means alone, though restarted ten times, ends above the uniform solution.
HARD = (159, 218, 263, 452, 596, 755, 840)


def test_free_weights_are_never_worse_than_equal_ones():
    for seed, (features, size) in enumerate(clouds(HARD[-1] + 1)):
        if seed % 20 == 0 or seed in HARD:
            free = free_barycenter(features, size, np.random.default_rng(1))
            equal = uniform_barycenter(features, size, np.random.default_rng(1))
            assert free.cost <= equal.cost + 1e-12
            assert equal.cost == pytest.approx(transport(features, equal), abs=1e-9)


def test_a_point_per_image_costs_nothing():
    features = np.random.default_rng(0).standard_normal((7, 3))
    assert free_barycenter(features, 7, np.random.default_rng(0)).cost < 1e-20


def test_more_points_than_images_is_refused():
    with pytest.raises(DNTKError, match=r"1\.\.3"):
        free_barycenter(np.eye(3), 4, np.random.default_rng(0))


def test_equal_points_get_different_images():
    features = np.array([[0.0], [0.1], [5.0]])
    assert nearest_images(features, np.array([[0.0], [0.0], [0.0]])).tolist() == [0, 1, 2]
