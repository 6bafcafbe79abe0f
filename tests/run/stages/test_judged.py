"""Judgements name the run's own images first, then every other selection; the estimate counts their gradients."""

from dntk_core.base.selections import SELECTIONS
from dntk_core.base.stage import Sizes
from dntk_core.base.stages import STAGES


def test_the_runs_own_images_are_judged_beside_every_selection(distilled_run):
    names = [each.name for each in distilled_run.judgements]
    assert names == ["wmdd", *SELECTIONS]
    assert distilled_run.artifacts["judged"].note["chain_rule_error"] < 1e-3
    assert distilled_run.artifacts["judged"].note["k"] == 512


def test_gradients_of_all_selections_and_of_the_real_inputs_are_counted():
    sizes = Sizes(C=10, m=20, t=60, k=512, n=60)
    assert STAGES["judged"].writes(sizes) == 4 * 10 * 512 * (len(SELECTIONS) * 20 + 60)
