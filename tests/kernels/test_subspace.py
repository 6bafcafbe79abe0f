"""Subspaces of gradients from kernels, against orthonormal bases of the materialised ones."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dntk_core.distill.mixing import selection
from dntk_core.kernels.subspace import largest_energy, projected, subspace_coverage
from tests.synthetic import draw, examples, seeds


def basis(rows):
    """Return an orthonormal basis of a row space: (dimension, k)."""
    _, sigma, V = np.linalg.svd(rows, full_matrices=False)
    return V[sigma > 1e-9 * sigma[0]]


def random_rows(seed, s):
    return np.random.default_rng(seed).standard_normal((s, 24))


@examples
@given(seeds, st.integers(1, 24))
def test_coverage_is_the_papers(seed, s):
    drawn, matrix = draw(seed), random_rows(seed, s)
    sizes = np.arange(1, s + 1)
    found = subspace_coverage(drawn.kernels.train, matrix, sizes)
    for i, size in enumerate(sizes):
        captured = missed = total = 0.0
        for Phi in drawn.features:
            centred = Phi - Phi.mean(axis=0)
            V = basis(matrix[:size] @ Phi)
            captured += np.sum((centred @ V.T @ V) ** 2)
            missed += np.sum((centred - centred @ V.T @ V) ** 2)
            total += np.sum(centred**2)
        assert found.coverage[i] == pytest.approx(captured / total, abs=1e-7)
        assert found.reconstruction[i] == pytest.approx(missed / (24 * 3), abs=1e-7 * total)


def test_repeated_rows_add_nothing():
    kernels = draw(1).kernels.train
    matrix = selection(np.array([3, 3, 5]), 24).matrix
    found = subspace_coverage(kernels, matrix, np.array([1, 2, 3]))
    assert found.coverage[1] == pytest.approx(found.coverage[0], abs=1e-9)
    assert found.coverage[2] > found.coverage[1] + 1e-3


@pytest.mark.parametrize("kernel", [np.zeros((5, 5)), np.full((5, 5), 0.7)])
def test_gradients_without_variance_are_covered_by_anything(kernel):
    found = subspace_coverage(np.stack([kernel] * 2), np.eye(5)[:2], np.array([1, 2]))
    np.testing.assert_array_equal(found.coverage, 1.0)
    np.testing.assert_allclose(found.reconstruction, 0.0, atol=1e-15)


@examples
@given(seeds, st.integers(1, 24))
def test_coordinates_in_the_span_give_back_the_projected_kernel(seed, s):
    """ΦΠΦᵀ of the span of any rows, and no more than all of Φ."""
    Phi, matrix = draw(seed).features[0], random_rows(seed, s)
    K, V = Phi @ Phi.T, basis(matrix @ Phi)
    cross = K @ matrix.T
    coordinates = projected(cross, matrix @ cross, largest_energy(matrix, np.trace(K)))
    np.testing.assert_allclose(coordinates @ coordinates.T, Phi @ V.T @ V @ Phi.T, atol=1e-6 * np.trace(K))
