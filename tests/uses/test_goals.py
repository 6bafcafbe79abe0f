"""What is explained: weights over logits, and probabilities that do not overflow."""

import numpy as np
import pytest

from dntk_core.base.errors import DNTKError
from dntk_core.readout.probabilities import softmax
from dntk_core.uses.goals import difference, logit, margins, one_hot


def test_margins_are_the_gradient_of_the_log_odds():
    logits, labels = np.random.default_rng(0).standard_normal((4, 3)), np.array([0, 1, 2, 0])

    def odds(z):
        p = softmax(z)[np.arange(4), labels]
        return np.log(p / (1 - p))

    step = 1e-6
    slopes = np.stack([(odds(logits + step * e) - odds(logits - step * e)) / (2 * step) for e in np.eye(3)], axis=1)
    np.testing.assert_allclose(margins(logits, labels), slopes, atol=1e-6)


def test_probabilities_of_huge_logits_are_finite_and_add_up():
    np.testing.assert_allclose(softmax(np.array([[1e4, 0.0], [-1e4, -1e4]])), [[1, 0], [0.5, 0.5]])


def test_classes_that_are_not_there_or_the_same_are_refused():
    with pytest.raises(DNTKError, match=r"0\.\.2"):
        logit(3, 3)
    with pytest.raises(DNTKError, match="twice"):
        difference(1, 1, 3)
    assert np.array_equal(one_hot(np.array([2, 0]), 3), [[0, 0, 1], [1, 0, 0]])
