"""Training, Layers and likeness in the dashboard: panels that are complete, and say what the numbers are."""

import json
import shlex
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from dntk_core import RunSpec, load_or_build
from dntk_core.base.spec import InputSpec, ModelSpec, ProjectionSpec
from dntk_core.cli.main import main
from dntk_core.dashboard.asking import likeness
from dntk_core.dashboard.choices.view import View
from dntk_core.dashboard.drawing.recipe import python
from dntk_core.dashboard.page import Page
from dntk_core.dashboard.sections import PICKS, SECTIONS, SLIDERS, layers, training
from dntk_core.run.across import build_series
from dntk_core.run.live import Live
from dntk_core.run.progression import Progression
from dntk_core.run.series import trained_series

SMALL = RunSpec(model=ModelSpec(epochs=2), inputs=InputSpec(kernel=30, test=20), projection=ProjectionSpec(k=256))


def page(run, **view) -> Page:
    return Page(run, Live(run.problem), View(**view), {})


@pytest.fixture(scope="module")
def found(store_folder):
    series = trained_series(SMALL, (0, 1, 2))
    return Progression(series, *build_series(series))


def test_a_series_is_shown_at_every_checkpoint_for_every_kernel(found):
    for kernel in ("mean", 3):
        here = page(found.runs[-1], kernel=kernel, H=3)
        for at in range(3):
            panels = training.at_checkpoint(here, found, at)
            assert len({panel.key for panel in panels}) == 5
            for panel in panels:
                assert panel.title and panel.read.endswith(".") and len(panel.definition) > 80
                # Values are checked by plotly here, not while sliders move.
                type(panel.figure)(panel.figure.to_dict())
    over, pairs, tangent, _, picture = training.at_checkpoint(page(found.runs[-1]), found, 0)
    lines = {trace.name: trace for trace in over.figure.data}
    np.testing.assert_allclose(lines["to the first"].y, found.cka(None)[0])
    np.testing.assert_allclose(lines["velocity"].y, found.velocity(None))
    np.testing.assert_allclose(lines["network"].y, [run.test_accuracy for run in found.runs])
    np.testing.assert_allclose(pairs.figure.data[0].z, found.cka(None))
    assert "off by" in pairs.read and "The tangent at epoch 0" in tangent.read
    back = [trace.y for trace in tangent.figure.data if trace.name == "tangent at epoch 2"]
    np.testing.assert_allclose(back[:2], [found.across.linear_error[2], found.across.following_error[2]])
    assert "At epoch 0" in picture.read


def test_one_walks_back_as_long_as_the_tangent_holds():
    labels = ("a", "b", "c", "d")
    assert training.walk(np.array([0.1, 0.9, 0.4, 0.0]), labels) == "back to c"
    assert training.walk(np.array([0.1, 0.3, 0.4, 0.0]), labels) == "back to a"
    assert training.walk(np.array([0.1, 0.3, 0.6, 0.0]), labels) == "to no earlier checkpoint"


def test_the_page_finds_its_series_and_offers_one_where_training_is_known(found, default_run, capsys):
    here = page(found.runs[-1])
    # Other tests may have made another series of the same network, on other inputs.
    known = training.known(here)
    assert found.series.key in {each.key for each in known}
    network = here.run.spec.stage_key("model")
    assert all(network in {spec.stage_key("model") for spec in each.specs} for each in known)
    assert len(training.panels(here)) == 5
    offered = training.offered(page(default_run))
    assert offered is not None and len(offered.specs) == 8 and training.panels(page(default_run)) == ()
    done = subprocess.run(
        [sys.executable, "-c", python(here.run.key, training.calls(found))], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert main(shlex.split(training.command(found))[3:]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["series"] == found.series.key and said["linear_error"] == found.across.linear_error.tolist()
    assert main(["series", "0123"]) == 2 and "no series in the cache" in capsys.readouterr().err


def test_groups_are_shown_with_the_numbers_they_have(store_folder, capsys):
    run = load_or_build(replace(SMALL, projection=replace(SMALL.projection, groups="blocks")))
    here = page(run)
    shares, between = layers.panels(here)
    parts = layers.found(here)
    bars = {trace.name: trace for trace in shares.figure.data}
    np.testing.assert_allclose(bars["share of trace"].x, parts.trace)
    np.testing.assert_allclose(bars["accuracy all but it"].x, parts.without)
    np.testing.assert_allclose(bars["likeness with outputs"].x, parts.targets)
    np.testing.assert_allclose(between.figure.data[0].z, parts.between)
    assert list(layers.numbers(here)["Group"]) == ["stem", "blocks.0", "blocks.1", "blocks.2", "head"]
    for panel in (shares, between):
        assert panel.read.endswith(".") and type(panel.figure)(panel.figure.to_dict())
    assert layers.panels(page(load_or_build(SMALL))) == ()
    three = page(run, kernel=3)
    assert main(shlex.split(layers.command(three))[3:]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["trace"] == layers.found(three).trace.tolist() != parts.trace.tolist()


def test_two_runs_on_the_same_inputs_are_compared(found):
    alike, classes = likeness.panels(page(found.runs[0]), page(found.runs[-1]))
    np.testing.assert_allclose(alike.figure.data[0].x, found.across.likeness.cka[:, 0, -1], atol=1e-6)
    assert "the networks choose alike on" in alike.read and "exact kernels" in alike.read
    assert np.array(classes.figure.data[0].z).shape == (10, 10)


def points(panel) -> list[dict]:
    """A click on the middle point of every trace that can be clicked, and on two corners of a heatmap."""
    found = []
    for trace in panel.figure.data:
        if trace.hoverinfo == "skip" or trace.visible is False:
            continue
        x, y, data = (None if each is None else list(each) for each in (trace.x, trace.y, trace.customdata))
        if trace.type == "heatmap":
            x, y = x or list(range(len(trace.z[0]))), y or list(range(len(trace.z)))
            places = [{"x": x[0], "y": y[j], "customdata": data and list(np.array(data)[j][0])} for j in (0, -1)]
        else:
            i = len(x) // 2
            places = [{"x": x[i], "y": y[i], "customdata": data and list(data[i])}]
        found += [place | {"series": trace.name or "", "axis": trace.xaxis or "x"} for place in places]
    return found


def test_every_figure_answers_a_click_and_what_it_stands_for_can_be_opened(found, store_folder, monkeypatch):
    """On pages and in Compare alike: it opens something, or moves a slider."""
    # A script by itself has no other pages.
    monkeypatch.setattr("streamlit.page_link", lambda *file, **more: None)

    def script(here, pick):
        import streamlit as st

        from dntk_core.dashboard.asking.opened import OPENED

        st.markdown(OPENED[pick.kind](here, pick))

    run = load_or_build(replace(SMALL, projection=replace(SMALL.projection, groups="blocks")))
    sections = [
        (title, page(run, H=3, rank=9)) for title in SECTIONS if title not in ("Training", "Dataset distillation")
    ]
    picks = {}
    for title, here in [*sections, ("Training", page(found.runs[-1], H=3))]:
        for panel in SECTIONS[title](here):
            answers = [
                (PICKS[title](here, panel.key, point), SLIDERS[title](here, panel.key, point))
                for point in points(panel)
            ]
            assert any(pick or sliders for pick, sliders in answers), panel.key
            picks |= {pick.kind: (here, pick) for pick, _ in answers if pick}
    kinds = {"setting", "dimension", "group", "groups", "formed", "forming", "checkpoint", "unseen", "labels"}
    assert kinds <= picks.keys()
    for kind in sorted(kinds):
        here, pick = picks[kind]
        app = AppTest.from_function(script, kwargs={"here": here, "pick": pick}, default_timeout=60).run()
        assert not app.exception, (kind, app.exception)
        assert app.markdown[-1].value and not any("no such" in each.value for each in app.caption), kind


def test_what_a_group_gets_wrong_is_as_much_as_its_accuracy_says(store_folder):
    run = load_or_build(replace(SMALL, projection=replace(SMALL.projection, groups="blocks")))
    parts = layers.found(page(run))
    np.testing.assert_allclose(np.mean(parts.chosen == run.test_labels[:, None], axis=0), parts.alone)
    np.testing.assert_allclose(np.mean(parts.others == run.test_labels[:, None], axis=0), parts.without)
