"""Condition numbers and smallest eigenvalues, against NumPy's."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dntk_core.readout.conditioning import conditioning, prefix_conditioning
from tests.synthetic import draw, examples, seeds


def test_exact_conditioning_is_numpys():
    gram = draw(1).kernels.train
    condition, smallest = conditioning(gram, 0.2)
    shifted = gram + 0.2 * np.eye(24)
    np.testing.assert_allclose(condition, [np.linalg.cond(G) for G in shifted])
    np.testing.assert_allclose(smallest, np.linalg.eigvalsh(shifted)[:, 0])


@examples
@given(seeds, st.floats(-4, 0))
def test_all_prefixes_at_once_are_each_block_within_two_percent(seed, exponent):
    gram, lam, sizes = draw(seed).kernels.train, 10.0**exponent, np.array([1, 2, 9, 24])
    condition, smallest = prefix_conditioning(gram, lam, sizes)
    for i, s in enumerate(sizes):
        exact = conditioning(gram[:, :s, :s], lam)
        assert condition[i] == pytest.approx(exact[0].mean(), rel=0.02)
        assert smallest[i] == pytest.approx(exact[1].mean(), rel=0.02)
