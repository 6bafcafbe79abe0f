"""The paper's claims on a run: what is measured, beside what the library gives by itself."""

import numpy as np
import pytest

from dntk_core import RunSpec
from dntk_core.base.spec import InputSpec
from dntk_core.dashboard.choices.view import View
from dntk_core.dashboard.offline import verdicts
from dntk_core.dashboard.offline.compression import BASELINES, OURS, PAPERS, methods, saved, thresholds
from dntk_core.dashboard.offline.experiments import class_spectra, contained, over_size, uncovered
from dntk_core.dashboard.offline.finding import SEEDS, over_seeds
from dntk_core.dashboard.offline.pairs import base_models, full, second_dataset
from dntk_core.dashboard.offline.paper import DISTILLED, EXPERIMENTS, REAL, STUDENT, Results
from dntk_core.dashboard.page import Page
from dntk_core.dashboard.sections.curves import SEEDS as DRAWS
from dntk_core.distill import METHODS
from dntk_core.kernels.spectrum import truncation_rank
from dntk_core.run.live import Live

M = 100


@pytest.fixture(scope="module")
def here(build_once) -> Page:
    """The embedded network on fewer inputs, which is quicker."""
    run = build_once(RunSpec(inputs=InputSpec(kernel=M, test=M)))
    return Page(run, Live(run.problem), View(), {})


def test_ranks_are_given_by_both_energies(here):
    values = [np.linalg.eigvalsh(K) for K in here.run.kernels.train]
    for point, energy in zip(class_spectra(here).points, ("gradients", "kernel"), strict=False):
        ranks = [truncation_rank(each, 0.05, energy) for each in values]
        assert point.ours.startswith(f"{min(ranks)}–{max(ranks)} of {M}")
        assert point.verdict == verdicts.ranks(ranks, M)


def test_size_is_drawn_evenly_by_class_over_seeds(here):
    point = over_size(here).points[0]
    curves = [here.live.size_curve("random", [5, 10, 20, 25, 50, 100], 1e-4, seed) for seed in SEEDS]
    mean = np.mean([curve.accuracy for curve in curves], axis=0)
    enough = int(np.argmax(mean >= 0.97 * mean[-1]))
    assert over_seeds([curve.accuracy[enough] for curve in curves]) in point.ours


def test_properties_are_judged_by_both_energies_with_intervals_over_clusterings(here):
    for find, measure in ((contained, "containment"), (uncovered, "coverage")):
        points = find(here).points
        assert ["λ²" in point.claim for point in points[::2]] == [False, True]
        for point, energy in zip(points[::2], ("gradients", "kernel"), strict=True):
            seeds = []
            for seed in SEEDS:
                live = Live(here.live.problem, seed)
                each = [getattr(live, measure)(10, 0.05, c, energy) for c in range(10)]
                seeds.append(np.mean([one.mean[-1] if measure == "containment" else one.misaligned for one in each]))
            assert over_seeds(seeds) in point.ours and "random clusters" in point.ours


def test_methods_are_judged_by_the_papers_own_clusters_and_baselines(here):
    found = {curve.method: curve for curve in here.live.compare([5], 1e-4, DRAWS)}
    assert set(BASELINES) <= set(METHODS)
    points = methods(here).points
    seeds = [Live(here.live.problem, seed).compare([5], 1e-4, DRAWS, [PAPERS])[0] for seed in SEEDS]
    assert found[PAPERS].settings[0] in points[0].ours
    assert over_seeds([float(curve["accuracy"][0, 0]) for curve in seeds]) in points[0].ours
    best = max(BASELINES, key=lambda name: found[name].mean("accuracy")[0])
    margin, low, _ = found[PAPERS].ahead_of(found[best], 0)
    assert points[2].verdict == verdicts.far_ahead(margin, low, best) and best in points[2].ours


def test_what_the_rows_cover_is_given_over_clusterings(here):
    seeds = [Live(here.live.problem, seed).compare([5], 1e-4, DRAWS, [OURS])[0] for seed in SEEDS]
    (point,) = (point for point in methods(here).points if "cover more" in point.claim)
    assert over_seeds([float(curve.coverage[0, 0]) for curve in seeds]) in point.ours


def test_the_grid_can_be_other_than_scattered(here):
    scattered, gaps, grows = thresholds(here).points
    assert all("over 5 seeds" in point.ours for point in (scattered, gaps, grows))
    assert {scattered.verdict.word, gaps.verdict.word, grows.verdict.word} <= {verdicts.SAME, verdicts.DIFFERENT}


def test_the_cost_has_two_counts(default_run):
    paper, everything = saved(Page(default_run, Live(default_run.problem), View(), {})).points
    assert paper.ours.startswith("497 times fewer FLOPs") and everything.ours.startswith("35 times fewer FLOPs")


def test_two_runs_are_set_beside_each_other(here):
    ours = full(here)
    assert ours.accuracy == here.live.scores(None, 1e-4).accuracy and ours.network == here.run.test_accuracy
    halves = [here.live.size_curve("random", [M // 2], 1e-4, seed).condition[0] for seed in SEEDS]
    conditioned = base_models(here, here, None).points[1].ours
    assert conditioned.count(over_seeds([float(each) for each in halves], ".3g")) == 2
    assert [point.verdict.word for point in base_models(here, here, None).points] == [verdicts.DIFFERENT] * 3
    assert second_dataset(here, here, ("a", "b")).points[1].verdict.word == verdicts.DIFFERENT


def test_what_is_not_finished_is_said_and_the_nearest_run_is_taken(default_run, tmp_path):
    runs = {REAL.format("a"): default_run, DISTILLED.format("a"): None, STUDENT.format("a"): None}
    results = Results(runs, ("a",), tmp_path)
    assert results.nearest == REAL.format("a") and results.second() is None
    (point,) = results.bases("a").points
    assert point.verdict == verdicts.unfinished(DISTILLED.format("a")) and point.paper.endswith("(Fig. 1)")
    assert results.experiment(DISTILLED.format("a"), EXPERIMENTS[-1]) is None
