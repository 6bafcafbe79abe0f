"""Soft labels as shares of the classes."""

import numpy as np
import scipy.special

from dntk_core.dataset.soft_labels import TEMPERATURE, shares
from dntk_core.readout.probabilities import softmax


def test_shares_are_scipys_softmax_and_bear_large_logits():
    logits = np.random.default_rng(0).normal(scale=300, size=(5, 4))
    np.testing.assert_allclose(softmax(logits), scipy.special.softmax(logits, axis=1), atol=1e-12)
    np.testing.assert_allclose(shares(logits), scipy.special.softmax(logits / TEMPERATURE, axis=1), atol=1e-12)
    np.testing.assert_allclose(softmax(np.array([[1e5, 0.0]])), [[1.0, 0.0]])
