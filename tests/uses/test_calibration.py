"""Judgements of probabilities against their definitions and scikit-learn."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import brier_score_loss, log_loss, roc_auc_score

from dntk_core.readout.probabilities import softmax
from dntk_core.uses.calibration import JUDGEMENTS, auroc, nll, rejection_curve, reliability, temperature
from tests.synthetic import examples, seeds


@examples
@given(seeds, st.integers(2, 5))
def test_scores_are_those_of_scikit_learn(seed, levels):
    rng = np.random.default_rng(seed)
    probabilities, labels = softmax(rng.standard_normal((40, 2))), rng.integers(2, size=40)
    assert JUDGEMENTS["nll"].function(probabilities, labels) == pytest.approx(
        log_loss(labels, probabilities, labels=[0, 1])
    )
    # Ours counts both classes.
    expected = 2 * brier_score_loss(labels, probabilities[:, 1])
    assert JUDGEMENTS["brier"].function(probabilities, labels) == pytest.approx(expected)
    scores, positive = rng.integers(levels, size=40).astype(float), np.append(rng.random(38) < 0.3, [True, False])
    assert auroc(scores, positive) == pytest.approx(roc_auc_score(positive, scores))


def test_one_kind_alone_cannot_be_told_apart():
    assert np.isnan(auroc(np.arange(3.0), np.ones(3, dtype=bool)))


def test_calibrated_probabilities_have_no_calibration_error_and_overconfident_ones_do():
    rng = np.random.default_rng(0)
    p = rng.uniform(0.5, 1.0, 50_000)
    probabilities, labels = np.stack([p, 1 - p], axis=1), (rng.random(50_000) > p).astype(int)
    assert JUDGEMENTS["ece"].function(probabilities, labels) < 0.01
    sharp = softmax(3 * np.log(probabilities))
    found = reliability(sharp, labels)
    assert found.error > 0.1 and found.count.sum() == 50_000
    assert JUDGEMENTS["accuracy"].function(sharp, labels) == pytest.approx((p**1).mean(), abs=0.01)


def test_a_temperature_undoes_what_sharpened_the_logits():
    rng = np.random.default_rng(1)
    logits = rng.standard_normal((20_000, 3)) * 2
    labels = np.array([rng.choice(3, p=p) for p in softmax(logits)])
    assert temperature(4 * logits, labels) == pytest.approx(4, rel=0.05)


def test_a_temperature_stays_sensible_when_every_input_is_right():
    rng = np.random.default_rng(2)
    logits = 10 * np.eye(3)[rng.integers(3, size=500)] + rng.standard_normal((500, 3))
    labels = logits.argmax(axis=1)
    T = temperature(logits, labels)
    losses = [500 * nll(softmax(logits / t), labels) + 0.5 * np.log(t) ** 2 for t in T * np.array([0.9, 1.0, 1.1])]
    assert 0.1 < T < 1 and np.argmin(losses) == 1


def test_rejecting_the_doubtful_first_raises_accuracy_to_one():
    doubt, right = np.array([0.1, 0.9, 0.2, 0.8]), np.array([True, False, True, False])
    rejected, accuracy = rejection_curve(doubt, right)
    np.testing.assert_allclose(rejected, [0, 0.25, 0.5, 0.75])
    np.testing.assert_allclose(accuracy, [0.5, 2 / 3, 1.0, 1.0])
