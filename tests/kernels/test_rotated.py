"""Products of chosen rows, put together from those of all rows, against the products themselves."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from dntk_core.kernels.rotated import Products, rotated


@pytest.mark.parametrize("q", [5, 9, 14])
@pytest.mark.parametrize("chosen", [[], [0, 3, 4], [0, 1, 2, 3, 4, 6, 8], slice(None)])
@pytest.mark.parametrize("gaps", [0, 2, 6])
def test_products_are_those_of_the_rows(q, chosen, gaps):
    """Nine features: fewer rows than that, as many, more."""
    rng = np.random.default_rng(0)
    local, whole = rng.standard_normal((2, q, 9), np.float32), rng.standard_normal((2, 2 * gaps, 9), np.float32)
    # Every other eigenvector of the decomposition has a row, every other global one is a gap.
    place = np.where(np.arange(2 * q) % 2, np.arange(2 * q) // 2, -1)
    own = np.flatnonzero(place >= 0)[chosen if isinstance(chosen, slice) else [i for i in chosen if i < q]]
    found = rotated(place, local, whole).choose(own, whole, np.arange(0, 2 * gaps, 2))
    M = np.concatenate([local[:, place[own]], whole[:, ::2]], axis=1).astype(np.float64)
    assert np.array_equal(np.stack([*found]), M) and found.size == M.shape[1]
    expected = M @ M.swapaxes(1, 2) if M.shape[1] <= 9 else M.swapaxes(1, 2) @ M
    products = Products(found)
    assert products.shape == expected.shape
    assert_allclose(np.asarray(products), expected, atol=1e-12)
    assert_allclose(products[1], expected[1], atol=1e-12)
