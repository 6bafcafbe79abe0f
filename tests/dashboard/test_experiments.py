"""The paper's claims judged on a run: by the counts and the methods that the paper compares."""

from types import SimpleNamespace

import pytest

from dntk_core.dashboard.experiments import SELECTIONS, contained, methods, saved, uncovered
from dntk_core.dashboard.page import Page
from dntk_core.dashboard.sections.curves import SEEDS
from dntk_core.dashboard.view import View
from dntk_core.distill import METHODS, Source
from dntk_core.run.live import Live
from tests.synthetic import draw


@pytest.fixture(scope="module")
def here(default_run) -> Page:
    return Page(default_run, Live(default_run.problem), View(), {})


def test_every_method_that_selects_inputs_is_a_sampling_baseline():
    problem = draw().problem
    source = Source(problem.kernels, problem.targets, problem.classes)
    origins = {name: method.distil(source, 6, 1e-3).origin for name, method in METHODS.items()}
    assert {name for name, rows in origins.items() if all(row.kind == "selected" for row in rows)} == set(SELECTIONS)


@pytest.mark.parametrize("seed", [0, 1, 4])
def test_the_sentence_on_methods_names_the_best_of_all_selections(seed):
    problem = draw(seed=seed).problem
    live, run = Live(problem), SimpleNamespace(targets=problem.targets, test_accuracy=0.9)
    curves = {curve.method: curve for curve in live.compare([5], 1e-4, SEEDS)}
    five = {name: curve.mean("accuracy")[0] for name, curve in curves.items()}
    best = max(SELECTIONS, key=lambda name: five[name])
    sentence = methods(Page(run, live, View(), {})).sentence
    ahead, low, high = (100 * value for value in curves["local-global"].ahead_of(curves[best], 0))
    margin = f"{ahead:+.0f} points (95 % interval {low:+.0f} to {high:+.0f}, paired)"
    assert f"{margin} against the best set of inputs ({best}, {five[best]:.1%})" in sentence
    assert curves["local-global"].settings[0] in sentence


def test_property_b_is_judged_by_the_measure_that_can_reach_the_papers(here):
    found = uncovered(here)
    missed = [here.live.coverage(10, 0.05, c).misaligned for c in range(10)]
    assert f"mean misalignment {min(missed):.1%}–{max(missed):.1%}" in found.sentence
    assert found.same == (min(missed) >= 0.10 and max(missed) <= 0.17)
    assert "can never exceed 5.3%" in found.sentence and "than chance" in found.sentence


def test_property_a_is_set_against_chance_where_it_can_be_tested(here):
    found = contained(here)
    results = [here.live.containment(10, 0.05, c) for c in range(10)]
    rank = min(min(int(each.sizes.max()) - 1, each.global_rank) for each in results)
    assert all(each.testable(rank).any() for each in results)
    assert f"At rank {rank}, testable in every class" in found.sentence and "than chance" in found.sentence


def test_the_cost_is_judged_as_the_paper_counts_and_both_counts_are_named(here):
    found = saved(here)
    assert not found.same and "one kernel alone, 497 times fewer FLOPs" in found.sentence
    assert "gradients included, 35 times fewer FLOPs" in found.sentence
