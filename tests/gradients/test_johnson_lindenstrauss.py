"""The lemma, the error to expect, and the error that was measured."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dntk_core.gradients.johnson_lindenstrauss import (
    dimension_warning,
    expected_error,
    guaranteed_epsilon,
    relative_error,
    sufficient_k,
)


@given(st.integers(2, 10**6), st.floats(0.01, 0.99))
def test_the_lemma_both_ways(points, epsilon):
    k = sufficient_k(points, epsilon)
    assert guaranteed_epsilon(points, k) < epsilon <= guaranteed_epsilon(points, k - 1) * (1 + 1e-12)


def test_the_expected_error_follows_the_spread_of_the_eigenvalues():
    # d = tr(K)²/‖K‖_F²: 1 for a kernel of rank one, m for a multiple of the identity.
    assert expected_error(np.ones((4, 4)), 50) == pytest.approx((2 / 50) ** 0.5)
    assert expected_error(3.0 * np.eye(4), 50) == pytest.approx((5 / 50) ** 0.5)
    assert expected_error(np.zeros((4, 4)), 50) == 0.0


def test_the_relative_error_has_no_unit():
    exact, near = np.eye(3), np.eye(3) * 1.1
    assert relative_error(near, exact) == pytest.approx(0.1) == pytest.approx(relative_error(7 * near, 7 * exact))
    assert relative_error(np.zeros((3, 3)), np.zeros((3, 3))) == 0.0


@pytest.mark.parametrize("ratio, warned", [(0.25, False), (1, True), (4, False)])
def test_k_near_m_is_warned_of(ratio, warned):
    sentence = dimension_warning(500, int(500 * ratio))
    assert bool(sentence) == warned
    assert not warned or "at least 2,000 or at most 250" in sentence
