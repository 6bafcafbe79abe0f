"""What a click stands for: the right cluster, direction, gradient, input, and the inputs behind a score."""

import numpy as np
import pytest

from dntk_core.dashboard.asking.errors import errors, predictions
from dntk_core.dashboard.asking.opened import OPENED, neighbours
from dntk_core.dashboard.choices.mixing import current_distillation
from dntk_core.dashboard.choices.picks import KINDS, Pick
from dntk_core.dashboard.choices.view import View
from dntk_core.dashboard.page import Page
from dntk_core.dashboard.sections import containment, coverage, curves, distillation, spectra
from dntk_core.run.live import Live


@pytest.fixture(scope="module")
def here(default_run) -> Page:
    return Page(default_run, Live(default_run.problem), View(), {})


def on(page: Page, text: str) -> Page:
    return Page(page.run, page.live, page.view, {}, Pick.read(text))


def test_every_kind_can_be_opened():
    assert OPENED.keys() == set(KINDS)


@pytest.mark.parametrize("text", ["", "cluster", "planet 3", "cluster " + "9" * 80])
def test_a_link_that_says_nothing_opens_nothing(text):
    with pytest.raises(ValueError):
        Pick.read(text)


@pytest.mark.parametrize(("text", "place"), [("cluster 1", 0), ("cluster 10", 9), ("cluster 11", None)])
def test_numbers_count_from_one_and_stay_within(text, place):
    assert Pick.read(text).place("cluster", 10) == place
    assert Pick.read(text).place("direction", 10) is None
    for odd in ("cluster 0", "cluster -1", "cluster x", "cluster 1e3", "cluster ²", "cluster 99999999999999999999"):
        assert Pick.read(odd).place("cluster", 10) is None


def test_a_cell_of_the_kernel_is_its_cluster_or_its_two_inputs(here):
    labels = here.live.labels(10)
    order = np.argsort(labels, kind="stable")
    assert spectra.pick_at(here, "kernel", {"x": 0.4, "y": 2.6}) == Pick.of("cluster", int(labels[order[3]]))
    assert spectra.pick_at(here, "kernel", {"x": 499.0, "y": 0.0}) == Pick.of("pair", int(order[0]), int(order[499]))


def test_a_line_or_a_bar_is_its_kernel(here):
    assert spectra.kernel_at(here, {"series": "3"}) == 3 and spectra.kernel_at(here, {"y": "mean"}) == "mean"
    assert spectra.kernel_at(here, {"series": "elsewhere", "y": 4.2, "customdata": None}) is None


def test_what_was_clicked_is_framed_in_the_figures(here):
    frames = {
        "cluster 3": (spectra.panels(on(here, "cluster 3"))[2], containment.panels(on(here, "cluster 3"))[0]),
        "direction 5": (coverage.chosen(on(here, "direction 5")),),
        "gradient 1": (distillation.panels(on(here, "gradient 1"))[1],),
    }
    plain = {
        "cluster 3": (spectra.panels(here)[2], containment.panels(here)[0]),
        "direction 5": (coverage.chosen(here),),
        "gradient 1": (distillation.panels(here)[1],),
    }
    for name, panels in frames.items():
        for framed, bare in zip(panels, plain[name], strict=True):
            assert len(framed.figure.layout.shapes) == len(bare.figure.layout.shapes) + 1
    shape = frames["cluster 3"][0].figure.layout.shapes[-1]
    assert shape.x1 - shape.x0 == np.sum(here.live.labels(10) == 2)
    pair = spectra.panels(on(here, "pair 3 400"))[2].figure.layout.shapes[-1]
    order = np.argsort(here.live.labels(10), kind="stable")
    assert order[round((pair.y0 + pair.y1) / 2)] == 2 and order[round((pair.x0 + pair.x1) / 2)] == 399
    stale = spectra.panels(on(here, "cluster 40"))[2].figure.layout.shapes
    assert len(stale) == len(plain["cluster 3"][0].figure.layout.shapes)


def test_bars_tiles_and_soft_labels_of_the_outcome_are_opened(here):
    mixing = here.live.local_global(10, 0.8, 0.98)
    at = {"x": "s = 15", "customdata": None}
    assert distillation.pick_at(here, "", at | {"series": "Fidelity"}) == Pick("errors", ("fidelity", "distilled"))
    assert distillation.pick_at(here, "", at | {"series": "Accuracy", "x": "network"}).parts == ("accuracy", "network")
    gap = distillation.pick_at(here, "", at | {"series": "gap"})
    assert mixing.origin[gap.place("gradient", mixing.size)].kind == "gap"
    assert distillation.pick_at(here, "", at | {"series": "weight", "customdata": [18, "1", 0.2]}) == Pick.of(
        "input", 17
    )
    soft = distillation.pick_at(here, "", at | {"series": "soft label", "customdata": ["1", 0.2, 1]})
    assert mixing.origin[soft.place("gradient", mixing.size)].kind == "gap", "the second row shown"
    assert distillation.pick_at(here, "", at | {"series": "removed"}) is None


def test_a_point_of_a_curve_sets_the_sliders_there(here):
    assert curves.sliders_at(here, "curve_rank", {"x": 33.0}) == {"rank": 33}
    assert curves.sliders_at(here, "curve_ridge", {"x": 0.0011}) == {"ridge": 0.001}
    found = curves.sliders_at(here, "methods", {"x": 20, "series": "kernel PCA", "axis": "x"})
    assert found.pop("method") == "kernel PCA"
    assert 0 < here.live.local_global(**found).size <= 20


@pytest.mark.parametrize("method", ["local-global", "random"])
def test_the_inputs_behind_a_score_are_as_many_as_it_says(here, method):
    view = View(method=method)
    distilled, full = current_distillation(here.live, view).scores(here.live)
    t = len(here.run.test_labels)
    for metric in ("accuracy", "fidelity"):
        for side, scores in (("distilled", distilled), ("full", full)):
            found = errors(here.live, view, metric, side)
            assert len(found.index) == round(t * (1 - scores[metric]))
            assert sum(len(found.of_class(c)) for c in range(10)) == len(found.index)
    assert len(errors(here.live, view, "fidelity", "network").index) == 0
    off = errors(here.live, view, "mse", "distilled")
    squares = ((predictions(here.live, view, "distilled") - here.run.test_logits) ** 2).mean(axis=1)
    assert list(off.index) == list(np.argsort(-squares, kind="stable"))


def test_neighbours_are_the_inputs_of_largest_cosine(here):
    K = here.run.kernels.mean
    cosine = K[7] / np.sqrt(np.diag(K) * K[7, 7])
    near, values = neighbours(here, 7)
    assert 7 not in near and np.allclose(values, np.sort(np.delete(cosine, 7))[::-1][: len(near)])
