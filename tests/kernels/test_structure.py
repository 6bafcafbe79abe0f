"""Properties (A) and (B) against projectors formed explicitly."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dntk_core.kernels.spectrum import spectrum, truncation_rank
from dntk_core.kernels.structure import containment, coverage
from tests.synthetic import draw, examples, random_labels, seeds

energies = st.sampled_from(["gradients", "kernel"])


def projector(columns):
    """Project on a span, by singular vectors."""
    U, sigma, _ = np.linalg.svd(columns, full_matrices=False)
    U = U[:, sigma > 1e-8 * sigma[0]]
    return U @ U.T


def local_pairs(K, labels, epsilon, energy):
    """Return per cluster its indices, leading eigenvalues and leading eigenvectors."""
    for h in range(labels.max() + 1):
        members = np.flatnonzero(labels == h)
        local = spectrum(K[np.ix_(members, members)])
        rank = truncation_rank(local.values, epsilon, energy)
        yield members, local.values[:rank], local.vectors[:, :rank]


@examples
@given(seeds, st.integers(1, 6), st.floats(0.01, 0.4), energies)
def test_containment_is_the_definition(seed, H, epsilon, energy):
    K, labels = draw(seed).kernels.mean, random_labels(seed, 24, H)
    found = containment(K, labels, epsilon, energy)
    known = spectrum(K)
    assert found.global_rank == truncation_rank(known.values, epsilon, energy)
    for h, (members, values, vectors) in enumerate(local_pairs(K, labels, epsilon, energy)):
        assert found.local_ranks[h] == len(values)
        for r in range(1, found.global_rank + 1):
            inside = np.sum((projector(known.vectors[members, :r]) @ vectors) ** 2, axis=0)
            assert found.curves[h, r - 1] == pytest.approx(values @ inside / values.sum(), abs=1e-6)
        local = K[np.ix_(members, members)]
        for j in range(found.global_rank):
            u = known.vectors[members, j]
            assert found.table[h, j] == pytest.approx(u @ local @ u / np.trace(local), abs=1e-10)
    np.testing.assert_allclose(found.mean, found.curves.mean(axis=0))
    assert np.all(found.minimum <= found.mean) and np.all(found.mean <= found.maximum)
    assert np.all(np.diff(found.curves, axis=1) >= -1e-12)


@examples
@given(seeds, st.integers(1, 6), st.floats(0.01, 0.4), energies)
def test_coverage_is_the_definition(seed, H, epsilon, energy):
    K, labels = draw(seed).kernels.mean, random_labels(seed, 24, H)
    found = coverage(K, labels, epsilon, energy)
    known = spectrum(K)
    lifted = []
    for h, (members, _, vectors) in enumerate(local_pairs(K, labels, epsilon, energy)):
        lifted.append(np.zeros((24, vectors.shape[1])))
        lifted[-1][members] = vectors
        for j in range(len(found.eigenvalues)):
            u = known.vectors[members, j]
            energy = np.sum((vectors @ (vectors.T @ u)) ** 2)
            assert found.energy[h, j] == pytest.approx(energy, abs=1e-12)
            assert found.alignment[h, j] == pytest.approx(energy / (u @ u), abs=1e-9)
    leading = known.vectors[:, : len(found.eigenvalues)]
    union = np.sum((projector(np.hstack(lifted)) @ leading) ** 2, axis=0)
    np.testing.assert_allclose(found.union, union, atol=1e-10)
    weight = found.eigenvalues / found.eigenvalues.sum()
    assert found.uncovered == pytest.approx(1 - weight @ union, abs=1e-10)
    np.testing.assert_allclose(found.maximum, found.alignment.max(axis=0))
    np.testing.assert_allclose(found.mean, found.alignment.mean(axis=0))


def test_one_cluster_covers_and_contains_everything():
    K = draw(4).kernels.mean
    labels = np.zeros(len(K), dtype=int)
    assert coverage(K, labels, 0.05).uncovered == pytest.approx(0.0, abs=1e-10)
    assert containment(K, labels, 0.05).minimum[-1] == pytest.approx(1.0)


def test_independent_blocks_leave_no_gap():
    a, b = draw(5, m=8).kernels.mean, draw(6, m=8).kernels.mean
    K = np.block([[a, np.zeros((8, 8))], [np.zeros((8, 8)), 3 * b]])
    found = coverage(K, np.repeat([0, 1], 8), 0.0)
    np.testing.assert_allclose(found.union, 1.0)
    np.testing.assert_allclose(found.maximum, 1.0)


@pytest.mark.parametrize("kernel", [np.zeros((6, 6)), np.ones((6, 6))])
@pytest.mark.parametrize("H", [1, 2, 6])
def test_degenerate_kernels_give_finite_answers(kernel, H):
    labels = np.arange(6) % H
    a, b = containment(kernel, labels, 0.05), coverage(kernel, labels, 0.05)
    for values in (a.curves, a.table, b.alignment, b.union, b.uncovered):
        assert np.all(np.isfinite(values))
    assert a.minimum[-1] == pytest.approx(1.0)
    if kernel.any():
        assert b.uncovered == pytest.approx(0.0, abs=1e-12)
