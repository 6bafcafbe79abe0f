"""Subspaces of gradients from kernels, against orthonormal bases of the materialised ones."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dntk_core.distill.mixing import selection
from dntk_core.kernels.subspace import energy_gap, nystrom, subspace_coverage
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
@given(seeds, st.lists(st.integers(0, 23), min_size=1, max_size=10, unique=True))
def test_chosen_inputs_induce_the_nystrom_kernel(seed, chosen):
    Phi = draw(seed).features[0]
    V = basis(Phi[chosen])
    K = Phi @ Phi.T
    projected = Phi @ V.T @ V @ Phi.T
    np.testing.assert_allclose(nystrom(K, selection(np.array(chosen), 24).matrix), projected, atol=1e-6 * np.trace(K))
    pseudo = K[:, chosen] @ np.linalg.pinv(K[np.ix_(chosen, chosen)], rcond=1e-12) @ K[chosen]
    np.testing.assert_allclose(projected, pseudo, atol=1e-6 * np.trace(K))


@examples
@given(seeds, st.integers(1, 24))
def test_energy_splits_into_pca_tail_and_misalignment(seed, s):
    Phi, matrix = draw(seed).features[0], random_rows(seed, s)
    K = Phi @ Phi.T
    found = energy_gap(K, matrix)
    V = basis(matrix @ Phi)
    sigma = np.linalg.svd(Phi, compute_uv=False)
    residual = Phi - Phi @ V.T @ V
    total = np.sum(Phi**2)
    assert found.rank == len(V)
    assert found.tail + found.misalignment == pytest.approx(np.sum(residual**2), abs=1e-7 * total)
    assert found.tail == pytest.approx(np.sum(sigma[found.rank :] ** 2), abs=1e-9 * total)
    assert found.misalignment >= -1e-9 * total
    assert found.kernel_error == pytest.approx(np.linalg.norm(K - Phi @ V.T @ V @ Phi.T), abs=1e-7 * total)
    assert found.kernel_error <= found.kernel_bound + 1e-7 * total


def test_the_pca_rows_are_aligned():
    K = draw(2).kernels.train[0]
    leading = np.linalg.eigh(K)[1][:, ::-1][:, :5].T
    assert energy_gap(K, leading).misalignment == pytest.approx(0.0, abs=1e-9 * np.trace(K))
    assert energy_gap(np.zeros((4, 4)), np.eye(4)[:2]).rank == 0
