"""Ridge leverage scores, against the smoother they are the diagonal of."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dntk_core.distill.leverage import leverage, leverage_scores, tail_ridge
from dntk_core.kernels.spectrum import spectrum
from tests.synthetic import draw, examples, seeds


@examples
@given(seeds, st.floats(1e-3, 10))
def test_leverage_scores_are_the_smoothers_diagonal(seed, lam):
    K = draw(seed).kernels.mean
    expected = np.diag(np.linalg.solve(K + lam * np.eye(24), K))
    np.testing.assert_allclose(leverage_scores(spectrum(K), np.diag(K), lam), expected, atol=1e-9)


def test_leverage_draws_in_proportion_to_the_scores():
    K = np.diag([8.0, 1.0, 1.0, 0.0])
    known, generator = spectrum(K), np.random.default_rng(0)
    # The ridge of one direction is what the others hold, 2.
    scores = np.array([0.8, 1 / 3, 1 / 3, 0])
    draws = [leverage(known, np.diag(K), 1, generator) for _ in range(4000)]
    first = np.array([draw.origin[0].index for draw in draws])
    np.testing.assert_allclose(np.bincount(first, minlength=4) / 4000, scores / scores.sum(), atol=0.03)
    # Weighted, the draws are those of a uniform one on average.
    weights = np.array([draw.matrix.max() ** 2 for draw in draws])
    mean = np.array([weights[first == i].sum() for i in range(3)]) / 4000
    np.testing.assert_allclose(mean, 0.25, atol=0.03)


def test_leverage_tells_inputs_apart_where_the_readouts_ridge_does_not():
    """At a ridge of 1e-4 every input looks needed; at that of s directions they differ."""
    known = spectrum(draw(0, m=60, k=80).kernels.mean)
    diagonal = np.zeros(60)
    small = leverage_scores(known, diagonal, 1e-6 * known.trace)
    right = leverage_scores(known, diagonal, tail_ridge(known, 5))
    assert small.std() / small.mean() < 0.1 * right.std() / right.mean()
    assert tail_ridge(known, 5) == pytest.approx(known.values[5:].sum() / 5)
