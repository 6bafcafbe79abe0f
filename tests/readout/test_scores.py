"""Scores of one readout and of many at once."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dntk_core.readout import scores
from dntk_core.readout.scores import score, score_coefficients
from tests.synthetic import draw, examples, seeds


def test_score_counts_by_hand():
    predictions = np.array([[2.0, 1.0], [0.0, 3.0], [1.0, 0.0], [5.0, 4.0]])
    logits = np.array([[2.0, 1.0], [0.0, 3.0], [0.0, 1.0], [5.0, 4.0]])
    found = score(predictions, logits, np.array([0, 0, 0, 0]))
    assert (found.accuracy, found.fidelity, found.mse) == (0.75, 0.75, 0.25)


@examples
@given(seeds, st.integers(1, 5))
def test_scores_of_many_readouts_are_those_of_each(seed, q):
    problem = draw(seed).problem
    alpha = np.random.default_rng(seed).standard_normal((3, 24, q))
    found = score_coefficients(problem, alpha)
    for i in range(q):
        one = score(np.einsum("ctm,cm->tc", problem.kernels.cross, alpha[..., i]), problem.logits, problem.labels)
        assert {name: pytest.approx(values[i]) for name, values in found.items()} == dict(one.scores)


def test_ties_go_to_the_first_class_as_in_argmax():
    problem = draw(0).problem
    found = score_coefficients(problem, np.zeros((3, 24, 1)))
    assert found["accuracy"][0] == np.mean(problem.labels == 0)
    assert found["fidelity"][0] == np.mean(problem.logits.argmax(axis=1) == 0)


def test_many_readouts_are_predicted_a_few_at_a_time(monkeypatch):
    problem, alpha = draw(0).problem, np.random.default_rng(0).standard_normal((3, 24, 11))
    at_once = score_coefficients(problem, alpha)
    monkeypatch.setattr(scores, "AT_ONCE", 3 * 17 * 2)
    for name, values in score_coefficients(problem, alpha).items():
        np.testing.assert_allclose(values, at_once[name], rtol=1e-12)
