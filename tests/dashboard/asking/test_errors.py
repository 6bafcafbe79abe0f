"""Lists of test inputs behind a score, of any set of gradients that a page shows."""

import numpy as np
import pytest

from dntk_core.dashboard.asking.errors import called, errors, mixed_by, of_set
from dntk_core.dashboard.choices.view import View
from dntk_core.dashboard.figures.ledger import COLUMNS
from dntk_core.dashboard.page import Page
from dntk_core.dashboard.sections import ledger, overview
from dntk_core.run.live import Live


@pytest.fixture(scope="module")
def here(default_run):
    return Page(default_run, Live(default_run.problem), View(), {})


def test_a_point_on_home_opens_as_many_inputs_as_its_score_says(here):
    (few,) = overview.panels(here)
    t = len(here.run.test_labels)
    for line in few.figure.data[:2]:
        point = {"series": line.name, "x": float(line.x[1])}
        metric, side = overview.pick_at(here, few.key, point).parts
        assert len(errors(here.live, here.view, metric, side).index) == round((1 - line.y[1]) * t)
    whole = overview.pick_at(here, few.key, {"series": few.figure.data[2].name, "x": 5.0})
    assert whole.parts == ("fidelity", "full")


def test_sides_are_read_from_links_and_what_is_none_is_refused(here):
    side = of_set("accuracy", "kernel PCA", 5).parts[1]
    found = mixed_by(here.live, here.view, side)
    assert found and found[0]
    mixing, by = found
    np.testing.assert_array_equal(mixing.matrix, here.live.distil("kernel PCA", 5, here.view.ridge).matrix)
    assert by == "paper" and called(side) == "5 gradients by kernel PCA"
    other = of_set("accuracy", "kernel PCA", 5, "nystrom").parts[1]
    assert mixed_by(here.live, here.view, other) == (mixing, "nystrom") and "Nyström" in called(other)
    wrong = ("nothing:5", "random:0", "random:9999999999", "random", "", "random:-1", "random:5:guess", "rank:0")
    for side in wrong:
        assert mixed_by(here.live, here.view, side) is None, side
        assert errors(here.live, here.view, "accuracy", side) is None, side


def test_a_bar_of_the_ledger_opens_the_way_and_the_run_that_it_counts(here):
    (panel,) = ledger.panels(here)
    for place, run in ((0, "this_run"), (len(panel.figure.data) - 1, "ImageNet")):
        bar = panel.figure.data[place]
        found = ledger.pick_at(here, panel.key, {"series": bar.name, "axis": bar.xaxis})
        assert found and found.parts == (run, "naive" if place == 0 else "dntk")
    assert len(panel.figure.data) == 2 * 3 * len(COLUMNS)
