"""Every metric against counting, input by input."""

import numpy as np
import pytest
from hypothesis import given

from dntk_core.readout.metrics import METRICS, Judged
from tests.synthetic import examples, seeds


@examples
@given(seeds)
def test_metrics_are_counts_and_means_over_the_test_inputs(seed):
    rng = np.random.default_rng(seed)
    C, t, q = 3, 11, 4
    predictions, logits, labels = rng.standard_normal((C, t, q)), rng.standard_normal((t, C)), rng.integers(C, size=t)
    judged = Judged(predictions, predictions.argmax(axis=0), logits, labels)
    found = {name: metric.function(judged) for name, metric in METRICS.items()}
    for i in range(q):
        chosen = [int(np.argmax(predictions[:, x, i])) for x in range(t)]
        assert found["accuracy"][i] == sum(c == y for c, y in zip(chosen, labels, strict=True)) / t
        assert found["fidelity"][i] == sum(c == np.argmax(f) for c, f in zip(chosen, logits, strict=True)) / t
        squares = [(predictions[c, x, i] - logits[x, c]) ** 2 for c in range(C) for x in range(t)]
        assert found["mse"][i] == pytest.approx(np.mean(squares))


def test_which_way_is_better():
    left, right = np.array([0.5, 0.7]), np.array([0.6, 0.7])
    assert METRICS["accuracy"].no_worse(left, right).tolist() == [False, True]
    assert METRICS["mse"].no_worse(left, right).tolist() == [True, True]
