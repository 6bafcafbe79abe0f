"""Local eigenvectors of clusters beside the global ones."""

import numpy as np
import pytest

from dntk_core.base.errors import DNTKError
from dntk_core.kernels.decomposition import decompose, permuted
from dntk_core.kernels.spectrum import spectrum
from tests.synthetic import draw, random_labels


@pytest.mark.parametrize("labels", [[0, 0, 2, 2], [1, 1, 2, 2], [0, 1, 0], [-1, 0, 0, 1]])
def test_labels_that_are_no_clustering_are_refused(labels):
    with pytest.raises(DNTKError, match="labels"):
        decompose(np.eye(4), np.array(labels))


def test_local_eigenvectors_lift_to_an_orthogonal_matrix():
    K, labels = draw(8).kernels.mean, random_labels(8, 24, 5)
    parts = decompose(K, labels)
    lifted = parts.lift(np.arange(24))
    np.testing.assert_allclose(lifted.T @ lifted, np.eye(24), atol=1e-12)
    np.testing.assert_allclose(parts.overlap, lifted.T @ parts.spectrum.vectors, atol=1e-12)
    for i in range(24):
        members = np.flatnonzero(labels == parts.cluster[i])
        assert set(np.flatnonzero(lifted[:, i])) <= set(members)
        local = K[np.ix_(members, members)] @ lifted[members, i]
        np.testing.assert_allclose(local, parts.values[i] * lifted[members, i], atol=1e-9 * np.trace(K))


def test_the_null_model_has_clusters_of_the_same_sizes_and_the_same_global_spectrum():
    K, labels = draw(3).kernels.mean, random_labels(3, 24, 4)
    known = spectrum(K)
    drawn = permuted(K, labels, known, count=3, seed=1)
    assert len({each.labels.tobytes() for each in drawn}) == 3
    for each in drawn:
        np.testing.assert_array_equal(np.bincount(each.labels), np.bincount(labels))
        assert each.spectrum is known
    (again,) = permuted(K, labels, known, count=1, seed=1)
    np.testing.assert_array_equal(again.labels, drawn[0].labels)
