"""Dataset distillation in the dashboard: figures carry their numbers, panels are complete, code runs as it stands."""

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from dntk_core.dashboard.choices.view import View
from dntk_core.dashboard.drawing.recipe import python
from dntk_core.dashboard.figures import dataset as figures
from dntk_core.dashboard.figures.judgements import judgements
from dntk_core.dashboard.page import Page
from dntk_core.dashboard.sections import dataset
from dntk_core.dataset.judgement import Judgement
from dntk_core.dataset.sizes import even_order
from dntk_core.dataset.soft_labels import shares
from dntk_core.dataset.tangent import Capture, KernelError, OneStep
from dntk_core.run.live import Live

NAMES = ("ant", "bee", "cat")
LABELS = np.repeat(np.arange(3), 4)
RNG = np.random.default_rng(0)
WEIGHTS = np.tile([0.1, 0.4, 0.2, 0.3], 3)


def page(run) -> Page:
    return Page(run, Live(run.problem), View(), {})


def test_the_gallery_shows_the_heaviest_first_with_their_soft_labels():
    soft = RNG.dirichlet(np.ones(3), 12)
    figure = figures.gallery(RNG.random((12, 1, 8, 8)), LABELS, WEIGHTS, soft, NAMES, range(1, 3))
    touch, written, labelled = figure.data
    assert list(written.text) == ["0.40", "0.30", "0.20", "0.10"] * 2
    # Of the second and the third class, counted from 1.
    assert [each[0] for each in touch.customdata] == [6, 8, 7, 5, 10, 12, 11, 9]
    assert [row[0][0] for row in labelled.customdata] == [6, 8, 7, 5, 10, 12, 11, 9]
    np.testing.assert_allclose(labelled.z, soft[[5, 7, 6, 4, 9, 11, 10, 8]])
    assert figure.layout.images[0].source.startswith("data:image/png")


def test_loss_curves_go_through_the_losses():
    history = np.exp(-np.arange(50)[:, None, None] / 10) * np.ones((50, 3, 2)) * [1, 3]
    figure = figures.losses(history, NAMES)
    means = [trace for trace in figure.data if trace.name == "mean of all classes"]
    assert [trace.y[0] for trace in means] == [1, 3] and means[0].y[-1] == pytest.approx(history[-1, 0, 0])


def test_without_synthesis_or_batch_norm_the_figure_says_so():
    assert "no loss" in figures.losses(np.empty((0, 3, 2)), NAMES).layout.annotations[0].text
    flat = np.ones((9, 3, 2)) * [1, 0]
    assert "No batch-norm layers" in figures.losses(flat, NAMES).layout.annotations[1].text


def test_the_map_keeps_distances_in_its_plane_and_sizes_by_weight():
    real = np.column_stack([RNG.standard_normal((30, 2)) * [5, 3], np.zeros((30, 4))])
    points, images = RNG.standard_normal((2, 12, 6)) * [5, 3, 0, 0, 0, 0]
    figure = figures.feature_map(real, LABELS[np.arange(30) % 12], points, images, LABELS, WEIGHTS, NAMES)
    dots = {trace.name: trace for trace in figure.data}
    seen = np.column_stack([dots["barycenter point"].x, dots["barycenter point"].y])
    np.testing.assert_allclose(np.linalg.norm(seen[0] - seen[5]), np.linalg.norm(points[0] - points[5]))
    size = np.array(dots["distilled image, area by weight"].marker.size)
    assert (size[1] / size[0]) ** 2 == pytest.approx(4)
    chosen = figures.feature_map(real, LABELS[np.arange(30) % 12], images, images, LABELS, WEIGHTS, NAMES)
    assert "barycenter point" not in {trace.name for trace in chosen.data}


def test_bars_are_tail_and_misalignment_and_missing_ones_are_named():
    caught = Capture(rank=5, total=10.0, missed=4.0, tail=1.0)
    step = OneStep(2.0, 0.5, 0.1, 1.0, 1.0, 1.0, 1.0)
    full = Judgement("wmdd", caught, caught, KernelError(0.1, 0.5, 2.0), caught, caught, step)
    figure = judgements([full, replace(full, name="random")])
    first = {trace.name: trace for trace in figure.data if trace.xaxis == "x"}
    assert first["PCA tail"].x == (0.1, 0.1) and first["misalignment"].x == pytest.approx((0.3, 0.3))
    assert first["misalignment"].text == ("4.00 ×", "4.00 ×")
    titles = [note.text for note in judgements([replace(full, stacked=None, step=None)], 60).layout.annotations]
    assert [title.endswith("needs k > 60") for title in titles] == [False, False, True, False, False, True]


def test_a_distilled_run_has_complete_panels(distilled_run):
    found = dataset.panels(page(distilled_run))
    assert len({panel.key for panel in found}) == len(found) == 5
    for panel in found:
        assert panel.title and panel.read.endswith(".") and "$" in panel.definition, panel.key
    assert "20 images for 1,297" == found[0].title


def test_a_run_on_real_images_has_none_and_its_page_names_the_run_to_make(default_run):
    assert dataset.panels(page(default_run)) == ()
    wanted = dataset.distilled(default_run.spec)
    assert wanted.dataset.method == "wmdd" and replace(wanted, dataset=default_run.spec.dataset) == default_run.spec
    other = dataset.sibling(wanted)
    assert other.dataset.base == "distilled" and dataset.sibling(other) == wanted


def test_the_pages_code_runs_as_it_stands(distilled_run):
    code = python(distilled_run.key, dataset.calls(page(distilled_run)))
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "pivoted Cholesky" in done.stdout and "Curve(" in done.stdout


def test_prefixes_of_the_order_are_balanced():
    order = even_order(LABELS, WEIGHTS)
    assert sorted(order) == list(range(12))
    for size in (3, 6, 9):
        assert np.bincount(LABELS[order[:size]]).tolist() == [size // 3] * 3
    assert order[:3].tolist() == [1, 5, 9]


def test_shares_are_a_tempered_softmax():
    found = shares(np.array([[4.0, 0.0, -4.0], [1e4, 0.0, 0.0]]))
    np.testing.assert_allclose(found[0], np.exp([1, 0, -1]) / np.exp([1, 0, -1]).sum())
    np.testing.assert_allclose(found[1], [1, 0, 0])


def test_a_click_opens_what_a_point_stands_for(distilled_run):
    here, made = page(distilled_run), distilled_run.distillation
    panels = {panel.key: panel.figure for panel in dataset.panels(here)}

    def opened(panel: str, series: str, **point) -> str:
        found = dataset.pick_at(here, panel, {"series": series, "x": None, "y": None, **point})
        return found.text if found else ""

    tile = panels["dataset_gallery"].data[0].customdata[1]
    assert opened("dataset_gallery", "image", customdata=list(tile)) == f"input {tile[0]}"
    name = distilled_run.class_names[3]
    assert opened("dataset_losses", name) == "class 4"
    assert opened("dataset_losses", "mean of all classes") == ""
    assert opened("dataset_map", "distilled image, area by weight", customdata=[name, 5, 0.1]) == "input 5"
    # A real image opens the one of its class that is next to it.
    found = int(opened("dataset_map", "real image", customdata=[name, 40]).split(" ")[1]) - 1
    own = made["labels"] == made["real_labels"][39]
    distance = np.linalg.norm(made["points"] - made["real_features"][39], axis=1)
    assert own[found] and distance[found] == distance[own].min()
    bar = distilled_run.judgements[2].name
    assert opened("dataset_judged", "PCA tail", y=bar) == "selection 3"
    assert opened("dataset_bases", "fidelity", x=20) == "heaviest 20"
