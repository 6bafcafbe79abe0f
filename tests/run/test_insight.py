"""One object for pages, commands and scripts: what it says of the default run."""

import numpy as np
import pytest

from dntk_core import DNTKError
from dntk_core.run.insight import Insight
from dntk_core.run.live import Live


@pytest.fixture(scope="module")
def insight(default_run) -> Insight:
    return Insight(default_run, Live(default_run.problem))


@pytest.mark.parametrize("targets", ["logits", "labels"])
def test_an_explanation_adds_up_full_and_distilled(insight, targets):
    mixing = insight.live.distil("local-global", 12, 1e-4)
    full = insight.explain(7, 3, 5, targets=targets)
    distilled = insight.explain(7, 3, 5, targets=targets, mixing=mixing)
    assert full.values.sum() == pytest.approx(full.full[3] - full.full[5], rel=1e-6)
    assert distilled.values.sum() == pytest.approx(distilled.prediction, rel=1e-6)
    assert distilled.synthetic.sum() == pytest.approx(distilled.prediction, rel=1e-6)
    assert full.synthetic is None and full.distilled is None
    for_, against, rest = distilled.speakers(4)
    named = distilled.values[for_].sum() + distilled.values[against].sum()
    assert named + rest == pytest.approx(distilled.prediction, rel=1e-6)
    assert (distilled.values[for_] > 0).all() and (distilled.values[against] < 0).all() and len(for_) == 4


def test_predictions_of_logits_are_those_that_pages_score(insight):
    problem = insight.run.problem
    for mixing in (None, insight.live.distil("kernel PCA", 10, 1e-4)):
        found = insight.predictions("logits", mixing, 1e-4)
        assert np.mean((found - problem.logits) ** 2) == pytest.approx(insight.live.scores(mixing, 1e-4).mse, rel=1e-6)


def test_the_readout_of_labels_knows_the_labels(insight):
    found = insight.predictions("labels", None, insight.label_ridge())
    assert np.mean(found.argmax(axis=1) == insight.run.test_labels) > 0.95


def test_an_input_that_is_not_there_is_refused(insight):
    with pytest.raises(DNTKError, match=r"0\.\.499, the run's test inputs, got 500"):
        insight.explain(500)
    with pytest.raises(DNTKError, match=r"0\.\.9, got 10"):
        insight.explain(0, 10)
    with pytest.raises(DNTKError, match="logits, labels"):
        insight.explain(0, targets="guesses")
