"""k-means centroids and medoids, against materialised gradients."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dntk_core.distill.averaging import centroids, medoids
from dntk_core.kernels.spectrum import spectrum
from tests.synthetic import draw, examples, seeds


@examples
@given(seeds, st.integers(1, 10))
def test_centroids_average_and_medoids_are_nearest(seed, size):
    drawn = draw(seed)
    Phi, known = drawn.stacked, spectrum(drawn.kernels.mean)
    means = centroids(known, size, np.random.default_rng(seed)).matrix
    chosen = [row.index for row in medoids(known, size, np.random.default_rng(seed)).origin]
    np.testing.assert_array_equal((means > 0).sum(axis=0), 1)
    for row, index in zip(means, chosen, strict=True):
        members = np.flatnonzero(row)
        np.testing.assert_allclose(row @ Phi, Phi[members].mean(axis=0), atol=1e-12)
        distance = np.sum((Phi[members] - row @ Phi) ** 2, axis=1)
        assert index in members
        assert np.sum((Phi[index] - row @ Phi) ** 2) == pytest.approx(distance.min(), abs=1e-9)
