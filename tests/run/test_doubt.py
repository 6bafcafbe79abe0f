"""How sure the default run is, and what it makes of other inputs."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from dntk_core.run.doubt import DISTILLED, FULL, NETWORK, Doubt, judged
from dntk_core.run.insight import Insight
from dntk_core.run.live import Live
from dntk_core.uses.calibration import temperature
from dntk_core.uses.uncertainty import NOISES


@pytest.fixture(scope="module")
def doubt(default_run) -> Doubt:
    live = Live(default_run.problem)
    return Doubt(Insight(default_run, live), live.distil("kernel PCA", 20, 1e-4))


def test_beliefs_are_probabilities_and_the_distilled_kernel_is_less_sure(doubt):
    found = doubt.test()
    for p in found.probabilities.values():
        np.testing.assert_allclose(p.sum(axis=1), 1.0)
    assert (found.deviation[DISTILLED] >= found.deviation[FULL] - 1e-9).all()
    assert set(found.doubt) == {*found.probabilities, f"{FULL}, deviation", f"{DISTILLED}, deviation"}


def test_other_inputs_are_believed_as_if_they_were_test_inputs(doubt):
    run, some = doubt.insight.run, np.array([3, 100, 421])
    features = run.artifacts["features"]["test_features"][:, some]
    found, whole = doubt.of(features, run.test_logits[some]), doubt.test()
    for name, p in found.probabilities.items():
        np.testing.assert_allclose(p, whole.probabilities[name][some], atol=1e-6)
    np.testing.assert_allclose(found.deviation[FULL], whole.deviation[FULL][some], rtol=1e-3)


def test_noise_inputs_are_doubted_more_than_test_inputs(doubt):
    run = doubt.insight.run
    features = np.random.default_rng(0).standard_normal((10, 30, run.features.shape[2]))
    features *= np.linalg.norm(run.features) / np.linalg.norm(features) * np.sqrt(30 / 500)
    found = doubt.of(features, run.test_logits[:30])
    assert found.deviation[FULL].mean() > 3 * doubt.test().deviation[FULL].mean()


@pytest.mark.parametrize("choose", NOISES)
def test_judgements_are_those_of_the_network_s_own_accuracy_and_errors(doubt, choose):
    run = doubt.insight.run
    found = judged(Doubt(doubt.insight, doubt.mixing, choose).test(), run.test_labels)
    assert found[NETWORK]["accuracy"] == np.mean(run.test_logits.argmax(axis=1) == run.test_labels)
    # Which inputs the handful of errors are is chance; that a doubt near 1 - p finds them is not. A deviation knows
    # nothing of how near two logits are.
    assert all(row["errors"] > 0.8 for row in found.values() if "nll" in row)


def test_noise_and_temperature_are_found_without_test_inputs(doubt, default_run):
    problem = default_run.problem
    kernels = replace(problem.kernels, cross=np.full(problem.kernels.cross.shape, np.nan))
    blind: Any = SimpleNamespace(kernels=kernels, targets=default_run.targets, train_labels=default_run.train_labels)
    unknown = np.full(problem.logits.shape, np.nan)
    live = Live(replace(problem, kernels=kernels, logits=unknown, labels=np.zeros_like(problem.labels)))
    again = Doubt(Insight(blind, live), doubt.mixing)
    assert (again.ridge, again.temperature) == (doubt.ridge, doubt.temperature)
    left = default_run.targets - doubt.insight.fit("logits", None, doubt.ridge).left_out
    assert doubt.temperature == temperature(left, default_run.train_labels)
