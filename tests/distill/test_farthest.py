"""Farthest point selection, against materialised gradients."""

import numpy as np
import pytest
from hypothesis import given

from dntk_core.distill.farthest import farthest_point
from tests.synthetic import draw, examples, seeds


@examples
@given(seeds)
def test_farthest_point_is_greedy_in_feature_space(seed):
    drawn = draw(seed)
    Phi = drawn.stacked
    chosen = [row.index for row in farthest_point(drawn.kernels.mean, 8).origin]
    assert chosen[0] == np.argmin(np.sum((Phi - Phi.mean(axis=0)) ** 2, axis=1))
    for q in range(1, 8):
        nearest = np.min([np.sum((Phi - Phi[i]) ** 2, axis=1) for i in chosen[:q]], axis=0)
        assert nearest[chosen[q]] == pytest.approx(nearest.max())
