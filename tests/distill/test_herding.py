"""Kernel herding, against materialised gradients."""

import numpy as np
import pytest
from hypothesis import given

from dntk_core.distill.herding import herding
from tests.synthetic import draw, examples, seeds


@examples
@given(seeds)
def test_herding_follows_the_mean_gradient(seed):
    drawn = draw(seed)
    Phi = drawn.stacked
    chosen = [row.index for row in herding(drawn.kernels.mean, 8).origin]
    for q in range(8):
        gain = Phi @ (Phi.mean(axis=0) - Phi[chosen[:q]].sum(axis=0) / (q + 1))
        free = np.setdiff1d(np.arange(24), chosen[:q])
        assert gain[chosen[q]] == pytest.approx(gain[free].max())
