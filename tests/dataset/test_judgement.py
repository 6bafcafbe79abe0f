"""Judgements: kept as JSON, blank where a subspace is too full, and a table of them."""

import json

import numpy as np
import pytest

from dntk_core.dataset.judgement import Inputs, Judgement, judge, judgement_table, update


def inputs(seed: int, n: int, k: int = 60) -> Inputs:
    """n inputs of 3 classes with decaying gradients."""
    rng = np.random.default_rng(seed)
    features = rng.standard_normal((3, n, k)) * 0.9 ** np.arange(k)
    return Inputs(features, rng.standard_normal((n, 3)), np.arange(n) % 3, rng.random(n) + 0.1)


@pytest.fixture(scope="module")
def judged() -> list[Judgement]:
    real, held_out = inputs(0, 40), inputs(1, 30)
    chosen = {"few": lambda: inputs(2, 4), "more": lambda: inputs(3, 12), "the same": lambda: inputs(0, 40)}
    return judge(chosen, real, held_out, 10**6, "logits")


def test_they_survive_json(judged):
    for each in judged:
        assert Judgement.from_json(json.loads(json.dumps(each.to_json()))) == each


def test_more_inputs_capture_more_and_too_many_are_not_judged(judged):
    few, more, same = judged
    assert 0 < few.classes.energy < more.classes.energy < 1
    assert few.classes_held_out.energy < more.classes_held_out.energy
    assert few.stacked is not None and few.step is not None
    # 12 inputs of 3 logits fill more than half of 60 dimensions; 40 of one logit, too.
    assert more.stacked is None and more.step is None
    assert same.classes is None and same.stacked is None


def test_the_table_has_a_line_for_each_and_dashes_for_what_is_not_judged(judged):
    lines = judgement_table(judged).splitlines()
    assert [line.split()[0] for line in lines[1:4]] == ["few", "more", "the"]
    assert f"{judged[0].classes.energy:.2%}" in lines[1] and "–" not in lines[1] and lines[3].count("–") == 4


def test_one_step_is_that_of_the_weighted_loss():
    """Finite differences of Σ w_i ℓ(f_i, y_i) / Σ w_i where f_i moves along the gradients."""
    chosen, step = inputs(4, 5), 1e-6
    direction = np.random.default_rng(0).standard_normal(60)

    def loss(t: float) -> float:
        outputs = chosen.outputs + t * (chosen.features @ direction).T
        outputs = outputs - np.log(np.exp(outputs).sum(axis=1, keepdims=True))
        return -np.average(outputs[np.arange(5), chosen.labels], weights=chosen.weights)

    slope = (loss(step) - loss(-step)) / (2 * step)
    assert update(chosen, "logits") @ direction == pytest.approx(slope, rel=1e-5)
