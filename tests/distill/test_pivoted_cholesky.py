"""Randomly pivoted Cholesky, against materialised gradients and its own distribution."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dntk_core.distill.pivoted_cholesky import pivoted_cholesky
from tests.synthetic import draw, examples, seeds


@examples
@given(seeds, st.integers(1, 10))
def test_pivoted_cholesky_never_repeats_what_is_explained(seed, rank):
    """With features of a given rank, so many pivots span them all."""
    drawn = draw(seed, C=1, k=rank)
    mixing = pivoted_cholesky(drawn.kernels.mean, rank, np.random.default_rng(seed))
    assert np.linalg.matrix_rank(mixing.matrix @ drawn.features[0]) == rank


def test_pivoted_cholesky_draws_by_the_residual_diagonal():
    Phi = np.array([[3.0, 0.0], [0.0, 1.0], [3.0, 1.0]])
    K, generator = Phi @ Phi.T, np.random.default_rng(0)
    pairs = [tuple(row.index for row in pivoted_cholesky(K, 2, generator).origin) for _ in range(4000)]
    first = np.bincount([i for i, _ in pairs], minlength=3) / 4000
    np.testing.assert_allclose(first, np.array([9, 1, 10]) / 20, atol=0.03)
    # After input 0 both others keep the same residual, 1.
    second = [j for i, j in pairs if i == 0]
    assert np.mean(np.array(second) == 1) == pytest.approx(0.5, abs=0.05)
