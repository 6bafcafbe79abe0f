"""Figures carry the numbers of the results they show, stay light, and draw something for degenerate input."""

import base64
import json
import subprocess
import sys
from dataclasses import replace
from io import BytesIO

import numpy as np
import plotly.graph_objects as go
import pytest
from PIL import Image

from dntk_core.dashboard.drawing.metrics import METRICS, Metric
from dntk_core.dashboard.figures import (
    budget,
    containment,
    coverage,
    curves,
    dataset,
    distillation,
    grid,
    ledger,
    spectra,
    tiles,
)
from dntk_core.dashboard.figures.canvas import POINTS, panels, thin
from dntk_core.data.images import as_images
from dntk_core.distill import Mixing
from dntk_core.distill.mixing import selection
from dntk_core.kernels.spectrum import Between, Spectrum, effective_dimension, parameter_redundancy, truncation_rank
from dntk_core.readout.bounds import error_budget, split_approximation
from dntk_core.readout.comparison import compare
from dntk_core.readout.intervals import share_interval
from dntk_core.readout.metrics import accuracy
from dntk_core.readout.problem import Problem
from dntk_core.run.ledger import IMAGENET
from dntk_core.run.ledger import ledger as count
from dntk_core.run.live import Live
from tests import hostile
from tests.synthetic import draw, with_kernel

RIDGES = (1e-6, 1e-3, 1.0)
NAMES = ("ant", "bee", "cat")


def cases() -> dict[str, Live]:
    """An ordinary problem and the odd ones: nothing to see, one input, one class, singular, many inputs."""
    rank_one = np.outer(np.arange(1.0, 7.0), np.arange(1.0, 7.0))
    return {
        "ordinary": Live(draw().problem),
        "zero kernel": Live(with_kernel(np.zeros((6, 6)))),
        "one input": Live(with_kernel(np.ones((1, 1)))),
        "one class": Live(draw(C=1).problem),
        "rank one": Live(with_kernel(rank_one)),
        "many inputs": Live(draw(m=300, C=2).problem),
    }


CASES = cases()


@pytest.fixture(params=CASES, scope="module")
def live(request) -> Live:
    return CASES[request.param]


@pytest.fixture
def ordinary() -> Live:
    return CASES["ordinary"]


def every_figure(live: Live) -> dict[str, go.Figure]:
    """All figures of the analysis pages for one problem."""
    problem: Problem = live.problem
    m, C = problem.targets.shape
    H = min(3, m)
    values = spectra_of(live)
    mixing = live.local_global(H, 0.9, 0.95)
    scores = live.scores(mixing, 1e-3)
    found = live.grid([1, H] if H > 1 else [1], [0.6, 0.9], [0.5, 0.9, 1.0], 1e-3)
    sizes = sorted({min(2, m), m})
    names = ["random", "herding", "kernel PCA"]
    images = np.linspace(0, 1, m * 3 * 5 * 4).reshape(m, 3, 5, 4)
    classes, rows = [f"class {c}" for c in range(C)], distillation.alternating(mixing)[:4]
    return {
        "spectra": spectra.spectra(values, 0.05, "mean"),
        "summary": spectra.summary(values, 0.05, live.lam(1e-3), "mean"),
        "kernel": spectra.kernel_picture(live.kernel(), live.labels(H)),
        "containment": containment.containment(live.containment(H, 0.05), 2, live.random_containments(H, 0.05)),
        "coverage": coverage.coverage(live.coverage(H, 0.05), 0.9, "union", live.random_coverages(H, 0.05)),
        "multiples": coverage.coverage_multiples({f"class {c}": live.coverage(H, 0.05, c) for c in range(C)}, 0.9),
        "outcome": distillation.outcome(mixing, scores, live.scores(None, 1e-3), 0.5, 5),
        "gallery": distillation.gallery(mixing, problem.targets, images, np.zeros(m, int), classes, rows),
        "size": curves.curve({"all": live.size_curve("random", range(1, m + 1), 1e-3)}, "size", 1, 0.5, 5),
        "ridge": curves.curve({str(A): live.ridge_curve(A, RIDGES) for A in (None, mixing)}, "ridge", 1, 0.5, 5),
        "comparison": curves.comparison(compare(problem, sizes, 1e-3, range(2), names), m, "herding"),
        "heatmaps": grid.heatmaps(found, "fidelity", (H, 0.9, 0.9)),
        "counts": grid.counts(found, "mse"),
        "frontier": grid.frontier(found, "mse", (1, 1.0), (0, 0, 0)),
        "over ridge": budget.over_ridge([error_budget(problem, ridge) for ridge in RIDGES], RIDGES, None, 1e-3),
        "over k": budget.over_dimension(
            [parameter_redundancy(values["mean"], 10, k, 0.05) for k in (8, 64)], (8, 64), 64, 0.02
        ),
    }  # fmt: skip


def spectra_of(live: Live) -> dict[str, Spectrum]:
    return {"mean": live.spectrum()} | {str(c): each for c, each in enumerate(live.spectra())}


def arrays(figure: go.Figure) -> list[np.ndarray]:
    """All numbers that a figure draws."""
    found = [trace[name] for trace in figure.data for name in ("x", "y", "z", "base") if name in trace]
    kept = [np.array([v for v in np.ravel(each) if v is not None]) for each in found if each is not None]
    return [each for each in kept if each.dtype.kind in "fiu"]


def named(figure: go.Figure, name: str, panel: str = "x"):
    """The one trace with this name on this axis."""
    (trace,) = (t for t in figure.data if t.name == name and (t.xaxis or "x") == panel)
    return trace


def test_every_figure_draws_finite_numbers_and_stays_light(live):
    for name, figure in every_figure(live).items():
        assert len(figure.data) > 0, name
        assert figure.layout.height > 100, name
        # Raises where plotly knows no such property or value; figures are made without this check.
        go.Figure(figure.to_dict())
        for numbers in arrays(figure):
            assert np.isfinite(numbers).all(), name
        for trace in figure.data:
            if trace.type == "scatter" and trace.x is not None:
                assert len(trace.x) <= POINTS, name
        text = figure.to_json()
        assert len(text) < 400_000, name
        assert not any(word in text for word in ("NaN", "Infinity")), name
        json.loads(text)


def test_spectra_draw_no_zero_on_their_log_axis(live):
    for trace in spectra.spectra(spectra_of(live), 0.05, "mean").data:
        assert min(trace.y) > 0


def test_spectra_mark_truncation_ranks(ordinary):
    values = {name: each.values for name, each in spectra_of(ordinary).items()}
    marks = spectra.spectra(spectra_of(ordinary), 0.1, "1").data[-1]
    for (name,), x, y in zip(marks.customdata, marks.x, marks.y, strict=True):
        assert x == truncation_rank(values[name], 0.1) and y == values[name][x - 1]


def test_the_chosen_spectrum_is_drawn_last_and_thickest(ordinary):
    lines = spectra.spectra(spectra_of(ordinary), 0.1, "1").data[:-1]
    assert lines[-1].name == "1" and lines[-1].line.width == max(line.line.width for line in lines)


def test_the_summary_bars_are_the_measures(ordinary):
    values, lam = spectra_of(ordinary), 0.3
    rank, redundancy, dimension = spectra.summary(values, 0.1, lam, "mean").data
    assert list(rank.x) == [truncation_rank(each.values, 0.1) for each in values.values()]
    assert np.allclose(np.multiply(rank.x, redundancy.x), 24)
    assert list(dimension.x) == [effective_dimension(each.values, lam) for each in values.values()]


def test_a_spectrum_that_is_not_complete_is_shown_between_its_bounds(ordinary):
    whole = ordinary.spectrum()
    part = Spectrum(whole.values[:4], whole.vectors[:, :4], whole.trace, whole.order)
    rank, redundancy, dimension = spectra.summary({"mean": part}, 0.1, 0.3, "mean").data
    true = {"rank": truncation_rank(whole.values, 0.1), "dimension": effective_dimension(whole.values, 0.3)}
    for bar, value in ((rank, true["rank"]), (redundancy, 24 / true["rank"]), (dimension, true["dimension"])):
        low, high = bar.x[0], bar.x[0] + bar.error_x.array[0]
        assert low <= value <= high and low < high and bar.error_x.visible
        assert bar.text[0] == f"{Between(low, high):.3g}" and "–" in bar.text[0]
    assert part.rank(0.1).high > 4
    marks = spectra.spectra({"mean": part}, 0.1, "mean").data[-1]
    assert len(marks.x) == 0, "a rank beyond what is known has no mark"


def test_the_kernel_picture_is_sorted_and_cut_by_cluster(ordinary):
    K, labels = ordinary.problem.kernels.train.mean(axis=0), ordinary.labels(3)
    heat, cuts = spectra.kernel_picture(ordinary.kernel(), labels).data
    order = np.argsort(labels, kind="stable")
    norms = np.sqrt(np.diag(K))
    assert np.allclose(heat.z, (K / norms[:, None] / norms)[np.ix_(order, order)], atol=1e-6)
    assert {x for x in cuts.x if x is not None} >= set(np.cumsum(np.bincount(labels))[:-1] - 0.5)


def test_a_large_kernel_becomes_means_over_blocks():
    live = CASES["many inputs"]
    heat = spectra.kernel_picture(live.kernel(), live.labels(3)).data[0]
    assert heat.z.shape == (spectra.CELLS, spectra.CELLS) and np.max(heat.z) <= 1 + 1e-6


def test_containment_shows_the_curves_and_the_table(ordinary):
    result = ordinary.containment(3, 0.05)
    figure = containment.containment(result, 2)
    for name, field in (("minimum", "minimum"), ("maximum", "maximum"), ("mean over clusters", "mean")):
        assert np.array_equal(named(figure, name).y, getattr(result, field))
    assert np.array_equal(named(figure, "variance share", "x2").z, result.table)
    assert {shape.x0 for shape in figure.layout.shapes if shape.type == "line"} == {2, result.global_rank}


def band(figure: go.Figure, name: str) -> list:
    """The lower and the upper end of a band: what lies between is filled, the legend has it once."""
    low, high = (trace for trace in figure.data if trace.name == name)
    assert high.fill == "tonexty" and [low.showlegend, high.showlegend] == [False, True]
    return [low, high]


def test_containment_is_drawn_beside_random_clusters(ordinary):
    result, random = ordinary.containment(3, 0.05), ordinary.random_containments(3, 0.05)
    assert not any("random" in trace.name for trace in containment.containment(result, 2).data)
    least, most = band(containment.containment(result, 2, random), "mean over random clusters")
    means = np.array([each.mean for each in random])
    assert np.array_equal(most.y, means.max(axis=0)) and np.array_equal(least.y, means.min(axis=0))
    assert (np.array(most.y) > np.array(least.y)).any()


def test_where_a_cluster_must_hold_everything_is_marked(ordinary):
    result = ordinary.containment(3, 0.05)
    largest, rank = int(result.sizes.max()), result.global_rank
    assert largest <= rank and result.minimum[largest - 1] == pytest.approx(1)
    figure = containment.containment(result, 2)
    (ground,) = (shape for shape in figure.layout.shapes if shape.type == "rect")
    assert (ground.x0, ground.x1) == (largest - 0.5, rank + 0.5)
    assert any("not testable" in note.text for note in figure.layout.annotations)
    assert sorted(named(figure, "cluster's size", "x2").x) == sorted(result.sizes)
    testable = containment.containment(replace(result, sizes=result.sizes + rank), 2)
    assert not any(shape.type == "rect" for shape in testable.layout.shapes)
    assert not any("not testable" in note.text for note in testable.layout.annotations)


@pytest.mark.parametrize("rule", ["ratio", "union"])
def test_gaps_are_the_directions_below_the_threshold(ordinary, rule):
    result = ordinary.coverage(3, 0.05)
    judged = result.maximum if rule == "ratio" else result.union
    threshold = float(np.median(judged))
    marks = coverage.coverage(result, threshold, rule).data[-1]
    assert list(marks.x) == list(np.flatnonzero(judged < threshold) + 1)
    assert np.array_equal(marks.y, judged[judged < threshold])


def test_coverage_is_drawn_beside_random_clusters(ordinary):
    result, random = ordinary.coverage(3, 0.05), ordinary.random_coverages(3, 0.05)
    figure = coverage.coverage(result, 0.9, "union", random)
    least, most = band(figure, "mean random cluster, of its own part")
    held = np.array([each.mean for each in random])
    assert np.array_equal(most.y, held.max(axis=0)) and np.array_equal(least.y, held.min(axis=0))


def test_every_class_is_titled_with_both_measures(ordinary):
    result = ordinary.coverage(3, 0.05)
    (title,) = (note.text for note in coverage.coverage_multiples({"a": result}, 0.9).layout.annotations)
    assert f"{result.uncovered:.1%} uncovered" in title and f"{result.misaligned:.1%} misaligned" in title


def test_of_many_classes_the_least_covered_are_shown(ordinary):
    result = ordinary.coverage(3, 0.05)
    results = {f"c{i}": replace(result, uncovered=i / 100) for i in range(30)}
    titles = [note.text for note in coverage.coverage_multiples(results, 0.9).layout.annotations]
    assert [title.split("<br>")[0] for title in titles] == [f"<b>c{i}</b>" for i in range(10, 30)]


def test_the_outcome_counts_rows_and_shows_scores(ordinary):
    mixing = ordinary.local_global(3, 0.9, 0.99)
    scores, full = ordinary.scores(mixing, 1e-3), ordinary.scores(None, 1e-3)
    figure = distillation.outcome(mixing, scores, full, 0.75, 100)
    drawn = {trace.name: list(trace.y) for trace in figure.data}
    assert drawn["local"] == [mixing.counts["local"]] and drawn["gap"] == [mixing.counts["gap"]]
    assert drawn["removed"] == [mixing.removed]
    assert drawn["Accuracy"] == [scores.accuracy, full.accuracy, 0.75]
    assert drawn["Logit MSE"] == [scores.mse, full.mse]
    (text,) = (trace.text for trace in figure.data if trace.name == "Accuracy")
    low, high = share_interval(scores.accuracy, 100)
    assert f"{scores.accuracy:.1%}" in text[0] and f"{100 * low:.1f}–{high:.1%}" in text[0]


def test_the_gallery_shows_the_heaviest_inputs_with_signs_and_the_soft_labels(ordinary):
    problem = ordinary.problem
    mixing = ordinary.local_global(3, 0.9, 0.99)
    m, C = problem.targets.shape
    images, labels = np.random.default_rng(0).random((m, 1, 8, 8)), np.arange(m) % C
    figure = distillation.gallery(mixing, problem.targets, images, labels, NAMES, [1, 2, 3])
    shown, _, soft = figure.data
    for y, (i, name, weight) in zip(shown.y, shown.customdata, strict=True):
        assert weight == mixing.matrix[1 + y, i - 1] and name == NAMES[labels[i - 1]]
    first = [abs(weight) for y, (_, _, weight) in zip(shown.y, shown.customdata, strict=True) if y == 0]
    assert first == sorted(np.abs(mixing.matrix[1]), reverse=True)[: distillation.TILES]
    expected = mixing.matrix[1:4] @ problem.targets
    for c, base, (name, value, row) in zip(soft.x, soft.base, soft.customdata, strict=True):
        assert name == NAMES[c] and row == base and np.isclose(value, expected[row, c])
    assert figure.layout.images[0].source.startswith("data:image/png;base64,")


@pytest.mark.parametrize("side", [8, 200])
def test_tiles_of_8_bit_colour_images_keep_their_colours_and_stay_small(side):
    colours = np.array([[250, 10, 20], [30, 240, 50]], np.uint8)
    images = as_images(np.broadcast_to(colours[:, :, None, None], (2, 3, side, side)))
    heavy, weights = np.array([[1, 0]]), np.array([[0.5, -0.5]])
    source = tiles.sheet(images, heavy, weights)
    picture = np.asarray(Image.open(BytesIO(base64.b64decode(source.partition(",")[2]))))
    assert max(picture.shape) < 300
    for j, i in enumerate(heavy[0]):
        half = picture[:, j * picture.shape[1] // 2 :][:, : picture.shape[1] // 2]
        assert (half[..., :3] == colours[i]).all(axis=2).sum() == tiles.TILE**2


def test_a_gallery_without_rows_says_so(ordinary):
    nothing = Mixing(np.zeros((0, 24)), (), nested=False)
    figure = distillation.gallery(
        nothing, ordinary.problem.targets, np.zeros((24, 1, 2, 2)), np.zeros(24, int), NAMES, []
    )
    assert "No gradient" in figure.layout.annotations[0].text


def test_both_kinds_of_gradients_are_seen_first(ordinary):
    mixing = ordinary.local_global(3, 0.9, 0.99)
    assert mixing.counts["local"] > 1 and mixing.counts["gap"] > 1
    order = distillation.alternating(mixing)
    assert sorted(order) == list(range(mixing.size))
    assert {mixing.origin[row].kind for row in order[:2]} == {"local", "gap"}


@pytest.mark.parametrize(("height", "width"), [(8, 8), (30, 90), (200, 50)])
def test_tiles_are_never_stretched(height, width):
    images = np.ones((1, 3, height, width))
    source = tiles.sheet(images, np.array([[0]]), np.array([[1.0]]))
    drawn = np.asarray(Image.open(BytesIO(base64.b64decode(source.partition(",")[2]))))
    white = (drawn[..., :3] == 255).all(axis=2)
    rows, columns = (np.flatnonzero(white.any(axis=axis)) for axis in (1, 0))
    assert abs(len(rows) / len(columns) - height / width) < 0.05 * height / width
    assert max(len(rows), len(columns)) == tiles.TILE


def test_selected_inputs_are_named(ordinary):
    images = np.zeros((24, 1, 2, 2))
    figure = distillation.gallery(
        selection(np.arange(24), 24), ordinary.problem.targets, images, np.zeros(24, int), NAMES, [5, 6]
    )
    assert "input 6" in figure.layout.yaxis.ticktext[0]


def test_curves_show_every_measure(ordinary):
    result = ordinary.rank_curve([1, 5, 24], 1e-3)
    figure = curves.curve({"ranks": result}, "rank", 5, 0.75, 100)
    for name, field, panel in (
        ("accuracy", "accuracy", "x"),
        ("logit MSE", "mse", "x2"),
        ("condition number", "condition", "x3"),
    ):
        assert np.array_equal(named(figure, name, panel).y, getattr(result, field))
    assert all(shape.x0 == 5 for shape in figure.layout.shapes)
    ends = np.array([share_interval(share, 100) for share in result.accuracy])
    band = np.array(named(figure, "accuracy, 95% interval").y)
    assert np.array_equal(np.sort(band), np.sort(ends.ravel()))


def test_the_ridge_chosen_without_test_data_is_marked(ordinary):
    found = ordinary.leave_one_out(RIDGES)
    figure = curves.curve({"all": ordinary.ridge_curve(None, RIDGES)}, "ridge", 1e-3, 0.5, 100, left_out=found)
    line = named(figure, "leave-one-out MSE, all inputs", "x2")
    assert np.array_equal(line.y, found.mse)
    assert [x for x, symbol in zip(line.x, line.marker.symbol, strict=True) if symbol == "diamond"] == [found.best]


def test_the_comparison_names_settings_and_has_gaps_where_a_method_has(ordinary):
    names = ["kernel PCA", "local-global", "local-global, paper's H"]
    found, other = (compare(ordinary.problem, [3, 8], 1e-3, range(2), names, by=by) for by in ("paper", "nystrom"))
    figure = curves.comparison(found, 24, "local-global", other[1])
    line = named(figure, "local-global, paper's H")
    assert list(np.isnan(line.y)) == [True, False]
    assert list(line.customdata[0][1:]) == [None, ""] and line.customdata[1][2] == found[2].settings[1] != ""
    assert "customdata[2]" in line.hovertemplate and "customdata[2]" not in named(figure, "kernel PCA").hovertemplate
    dashed = named(figure, "local-global, other readout")
    assert np.array_equal(dashed.y, other[1].mean("accuracy")) and dashed.line.dash == "dash"
    assert not any(word in figure.to_json() for word in ("NaN", "Infinity"))


def test_the_comparison_shows_means_bands_and_compression(ordinary):
    found = compare(ordinary.problem, [3, 6, 12], 1e-3, range(3), ["random", "kernel PCA"])
    figure = curves.comparison(found, 24, "random")
    assert np.array_equal(named(figure, "random").y, found[0].mean("accuracy"))
    assert list(named(figure, "random", "x6").x) == [8, 4, 2]
    assert any(trace.name == "random, spread" for trace in figure.data)
    assert not any(trace.name == "kernel PCA, spread" for trace in figure.data)


def test_grid_cells_carry_their_whole_setting(ordinary):
    found = ordinary.grid([2, 4], [0.6, 0.9], [0.5, 0.9, 1.0], 1e-3)
    figure = grid.heatmaps(found, "accuracy", (4, 0.9, 1.0))
    assert np.array_equal(figure.data[1].z, found.accuracy[1])
    H, tau_v, tau_g, s, local, gap = figure.data[1].customdata[1, 2][:6]
    assert (H, tau_v, tau_g) == (4, 0.9, 1.0) and s == local + gap == found.s[1, 1, 2]
    frames = [trace for trace in figure.data if trace.name == "Pareto"]
    assert sum(x is None for trace in frames for x in trace.x) == len(found.frontier("accuracy")), "ties make one box"
    assert any("×" in note.text for note in figure.layout.annotations)


def test_the_frontier_runs_through_the_pareto_settings(ordinary):
    found = ordinary.grid([2, 4], [0.6, 0.9], [0.5, 0.9, 1.0], 1e-3)
    figure = grid.frontier(found, "fidelity", (7, 0.5), (1, 0, 2))
    line, sliders, answer = (named(figure, name) for name in ("Pareto frontier", "sliders", "objective"))
    assert list(line.x) == sorted(set(found.s[found.pareto("fidelity")]))
    assert (np.diff(line.y) > 0).all()
    assert (sliders.x[0], sliders.y[0]) == (7, 0.5)
    assert (answer.x[0], answer.y[0]) == (found.s[1, 0, 2], found.fidelity[1, 0, 2])


def test_counts_stack_to_the_number_of_gradients(ordinary):
    found = ordinary.grid([2, 4], [0.6, 0.9], [0.5, 0.9, 1.0], 1e-3)
    figure = grid.counts(found, "fidelity")
    assert np.array_equal(named(figure, "local", "x2").y + named(figure, "gap", "x2").y, found.s[1].ravel())


@pytest.mark.parametrize("c", [None, 1])
def test_the_budget_stacks_the_three_terms(ordinary, c):
    budgets = [error_budget(ordinary.problem, ridge) for ridge in RIDGES]
    figure = budget.over_ridge(budgets, RIDGES, c, 1e-3)
    for name, field in (
        ("approximation", "approx"),
        ("bias", "bias"),
        ("variance", "variance"),
        ("measured", "measured"),
    ):
        expected = [getattr(each, field).mean() if c is None else getattr(each, field)[c] for each in budgets]
        assert np.allclose(named(figure, name).y, expected)
    assert {trace.stackgroup for trace in figure.data[:3]} == {"bound"}


@pytest.mark.parametrize("c", [None, 1])
def test_projection_and_non_linearity_share_the_approximation(c):
    drawn = draw()
    problem = drawn.problem
    budgets = [error_budget(problem, ridge) for ridge in RIDGES]
    split = split_approximation(drawn.features, drawn.test_features, problem, budgets[0])
    figure = budget.over_ridge(budgets, RIDGES, c, 1e-3, split)
    whole = [each.approx.mean() if c is None else each.approx[c] for each in budgets]
    parts = [trace for trace in figure.data if trace.name.startswith(("projection", "non-linearity"))]
    assert len(parts) == 2 and np.allclose(np.sum([part.y for part in parts], axis=0), whole)
    if c is not None:
        squares = split.projection[c] ** 2, split.nonlinear[c] ** 2
        heights = {part.name.split(" ")[0]: part.y[0] for part in parts}
        assert heights["projection"] / whole[0] == pytest.approx(squares[0] / sum(squares))


def test_a_run_without_projection_has_no_mark_on_the_dimension_axis(ordinary):
    terms = [parameter_redundancy(ordinary.spectrum(), 100, k, 0.05) for k in (8, 64)]
    figure = budget.over_dimension(terms, (8, 64), None, None)
    assert not figure.layout.shapes and list(named(figure, "projection").y) == [term.jl for term in terms]


def test_a_new_score_is_drawn_by_every_figure_that_shows_scores(monkeypatch):
    monkeypatch.setitem(
        METRICS, "toy", Metric(lambda judged: 0.5 + 0 * accuracy(judged), "Toy error", ".2f", higher=False)
    )

    live = Live(draw().problem)
    mixing = live.local_global(3, 0.9, 0.95)
    scores, full = live.scores(mixing, 1e-3), live.scores(None, 1e-3)
    assert list(named(distillation.outcome(mixing, scores, full, 0.75, 100), "Toy error", "x5").y) == [0.5, 0.5]
    result = live.rank_curve([1, 5, 24], 1e-3)
    figure = curves.curve({"ranks": result}, "rank", 5, 0.75, 100)
    assert list(named(figure, "toy error", "x3").y) == [0.5] * 3 and len(figure.layout.shapes) == 5
    found = compare(live.problem, [3, 6], 1e-3, range(3), ["random", "kernel PCA"])
    assert list(named(curves.comparison(found, 24, "random"), "kernel PCA", "x4").y) == [0.5, 0.5]
    cells = grid.heatmaps(live.grid([2, 4], [0.6], [0.5, 1.0], 1e-3), "fidelity", (4, 0.6, 1.0)).data[0]
    assert (cells.customdata[..., cells.meta["columns"].index("toy")] == 0.5).all()
    assert "toy error %{customdata[10]:.2f}" in cells.hovertemplate


def test_the_ledger_shows_both_counts_side_by_side():
    found = count(IMAGENET)
    figure = ledger.ledgers({"ImageNet": found})
    naive = [trace.x[0] for trace in figure.data if trace.name == "naive NTK"]
    assert naive == [
        IMAGENET.n,
        found.paper.naive.flops,
        found.everything.naive.flops,
        found.paper.naive.bytes,
        found.everything.naive.bytes,
    ]
    titles = [note.text for note in figure.layout.annotations]
    assert "as the paper counts" in titles[1] and "2.0×10<sup>6</sup> × less" in titles[1] and "everything" in titles[2]


def test_panels_do_not_overlap():
    layout = panels(list("abcde"), 3, [{}] * 5, [{}] * 5)
    first, second, fourth = layout["xaxis"]["domain"], layout["xaxis2"]["domain"], layout["yaxis4"]["domain"]
    assert first[1] < second[0] and fourth[1] < layout["yaxis"]["domain"][0]
    assert np.isclose(layout["xaxis3"]["domain"][1], 1) and np.isclose(fourth[0], 0)


def test_thinning_keeps_both_ends():
    kept = thin(12_345)
    assert len(kept) == POINTS and kept[0] == 0 and kept[-1] == 12_344


def texts(value) -> list[str]:
    """All text of a figure, but for our own templates."""
    if isinstance(value, dict):
        return [text for part in value.values() for text in texts(part)]
    if isinstance(value, list):
        return [text for part in value for text in texts(part)]
    return [value] if isinstance(value, str) else []


def test_names_are_written_as_text_in_every_figure_that_has_them():
    live = Live(draw(m=24, C=len(hostile.NAMES)).problem)
    names, labels = hostile.NAMES, np.arange(24) % len(hostile.NAMES)
    values = dict(zip(names, live.spectra(), strict=True))
    mixing, images = live.local_global(3, 0.9, 0.95), np.zeros((24, 1, 4, 4))
    weights, soft, history = np.ones(24), np.ones((24, len(names))), np.ones((5, len(names), 2))
    features = np.random.default_rng(0).standard_normal((24, 3))
    drawn = {
        "spectra": spectra.spectra(values, 0.05, names[0]),
        "summary": spectra.summary(values, 0.05, 1.0, names[0]),
        "multiples": coverage.coverage_multiples({n: live.coverage(3, 0.05, c) for c, n in enumerate(names)}, 0.9),
        "gallery": distillation.gallery(mixing, live.problem.targets, images, labels, names, range(4)),
        "images": dataset.gallery(images, labels, weights, soft, names, range(4)),
        "losses": dataset.losses(history, names),
        "map": dataset.feature_map(features, labels, features, features + 1, labels, weights, names),
    }
    for figure, drawing in drawn.items():
        found = texts(json.loads(drawing.to_json()))
        assert any("&lt;b" in text for text in found), f"{figure} shows no names"
        for text in found:
            assert not any(name in text for name in names if "<" in name), (figure, text)


def test_pandas_is_loaded_before_any_figure():
    """Plotly uses it as soon as another thread has begun to load it, as a computation does."""
    code = "import sys, dntk_core.dashboard.figures; sys.exit('pandas' not in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
