import numpy as np
import pytest

from dntk_core.base.errors import Cancelled, DNTKError
from dntk_core.distill.local_global import local_global
from dntk_core.kernels.clusters import spectral_clusters
from dntk_core.readout.grid import grid_search
from dntk_core.readout.metrics import METRICS
from dntk_core.readout.ridge import evaluate
from tests.synthetic import draw, with_kernel

H, TAU_V, TAU_G, RIDGE = [1, 3, 7], [0.4, 0.8, 0.97, 1.0], [0.0, 0.5, 0.9, 1.0], 1e-3


@pytest.mark.parametrize(
    ("rule", "by", "energy"),
    [("ratio", "paper", "gradients"), ("union", "nystrom", "gradients"), ("union", "paper", "kernel")],
)
def test_every_cell_is_that_of_running_the_algorithm_alone(rule, by, energy):
    problem = draw(0, t=40).problem
    K = problem.kernels.mean
    grid = grid_search(problem, H, TAU_V, TAU_G, RIDGE, rule, seed=2, by=by, energy=energy)
    np.testing.assert_array_equal(grid.H, H)
    assert grid.gap.max() > 0
    for a, h in enumerate(H):
        labels = spectral_clusters(K, h, 2)
        for b, tau_v in enumerate(TAU_V):
            for g, tau_g in enumerate(TAU_G):
                mixing = local_global(K, labels, tau_v, tau_g, rule, energy)
                cell = a, b, g
                assert (grid.s[cell], grid.removed[cell]) == (mixing.size, mixing.removed)
                assert (grid.local[cell], grid.gap[cell]) == (mixing.counts["local"], mixing.counts["gap"])
                alone = evaluate(problem, mixing, RIDGE, by)
                assert {name: pytest.approx(v[cell], rel=1e-6) for name, v in grid.scores.items()} == dict(alone.scores)


@pytest.mark.parametrize(("metric", "sign"), [("accuracy", 1), ("fidelity", 1), ("mse", -1)])
def test_the_frontier_is_what_no_cell_dominates(metric, sign):
    grid = grid_search(draw(1, t=40).problem, H, TAU_V, TAU_G, RIDGE, "union")
    s, value = grid.s.ravel(), sign * getattr(grid, metric).ravel()
    expected = [
        not any(s[j] <= s[i] and value[j] >= value[i] and (s[j] < s[i] or value[j] > value[i]) for j in range(len(s)))
        for i in range(len(s))
    ]
    found = grid.pareto(metric)
    np.testing.assert_array_equal(found.ravel(), expected)
    assert 0 < found.sum() < found.size


@pytest.mark.parametrize("metric", METRICS)
def test_an_objective_has_one_answer_that_nothing_beats(metric):
    grid = grid_search(draw(1, t=40).problem, H, TAU_V, TAU_G, RIDGE, "union")
    s, value, good = grid.s, grid[metric], METRICS[metric].no_worse
    places = [(int(s[cell]), float(value[cell])) for cell in grid.frontier(metric)]
    assert places == sorted(set(places)), "ties are one cell"
    for wanted in np.quantile(value, [0.0, 0.3, 0.8, 1.0]):
        enough = good(value, wanted)
        cell = grid.smallest(metric, wanted)
        assert enough[cell] and s[cell] == s[enough].min() and good(value[cell], value[enough & (s == s[cell])]).all()
    for most in (int(s.min()), 9, 10**6):
        cell = grid.best(metric, most)
        assert s[cell] <= most and good(value[cell], value[s <= most]).all()
    assert grid.best(metric, int(s.min()) - 1) is None
    assert grid.smallest(metric, 2.0 if METRICS[metric].higher else -1.0) is None


def test_progress_is_told_and_can_stop():
    events = []
    grid_search(draw(0).problem, H, TAU_V, TAU_G, RIDGE, report=events.append)
    assert [(event.done, event.total) for event in events] == [(0, 3), (1, 3), (2, 3), (3, 3)]

    def stop(event):
        if event.done == 1:
            raise Cancelled

    with pytest.raises(Cancelled):
        grid_search(draw(0).problem, H, TAU_V, TAU_G, RIDGE, report=stop)


def test_bad_settings_are_refused():
    problem = draw(0).problem
    with pytest.raises(DNTKError, match=r"1\.\.24"):
        grid_search(problem, [25], TAU_V, TAU_G, RIDGE)
    with pytest.raises(DNTKError, match="tau_g"):
        grid_search(problem, H, TAU_V, [1.5], RIDGE)
    with pytest.raises(DNTKError, match="tau_v"):
        grid_search(problem, H, [-0.5], TAU_G, RIDGE)
    with pytest.raises(DNTKError, match="at least one value"):
        grid_search(problem, H, [], TAU_G, RIDGE)
    with pytest.raises(DNTKError, match="metric"):
        grid_search(problem, [2], [0.5], [0.5], RIDGE).pareto("s")


@pytest.mark.parametrize("kernel", [np.zeros((6, 6)), np.ones((6, 6))])
def test_degenerate_kernels_give_a_finite_grid(kernel):
    grid = grid_search(with_kernel(kernel), [1, 2, 6], [0.0, 0.9, 1.0], [0.0, 1.0], 0.0)
    assert np.all(np.isfinite(grid.mse)) and grid.pareto("mse").any()
