"""The paper's claims judged on a run: by the counts and the methods that the paper compares."""

from types import SimpleNamespace

import pytest

from dntk_core.dashboard.experiments import SELECTIONS, methods, saved
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
    five = {curve.method: curve.mean("accuracy")[0] for curve in live.compare([5], 1e-4, SEEDS)}
    best = max(SELECTIONS, key=lambda name: five[name])
    assert f"({best}, {five[best]:.1%})" in methods(Page(run, live, View(), {})).sentence


def test_the_cost_is_judged_as_the_paper_counts_and_both_counts_are_named(here):
    found = saved(here)
    assert not found.same and "one kernel alone, 497 times fewer FLOPs" in found.sentence
    assert "gradients included, 35 times fewer FLOPs" in found.sentence
