"""Pages of what a kernel is for: complete panels, the same numbers as Python and the command line."""

import json
import shlex
from dataclasses import replace

import numpy as np
import pytest

from dntk_core.cli.main import main
from dntk_core.dashboard.choices.view import View
from dntk_core.dashboard.drawing.recipe import python
from dntk_core.dashboard.page import Page
from dntk_core.dashboard.sections import health, predictions, uncertainty
from dntk_core.run.checkup import where
from dntk_core.run.doubt import judged
from dntk_core.run.live import Live


@pytest.fixture(scope="module")
def here(default_run) -> Page:
    return Page(default_run, Live(default_run.problem), View(), {})


def test_every_panel_is_explained(here):
    found = [*predictions.panels(here), *health.panels(here), *uncertainty.panels(here)]
    assert len({panel.key for panel in found}) == len(found)
    for panel in found:
        assert panel.title and panel.read.endswith(".") and "$" in panel.definition, panel.key


@pytest.mark.parametrize("method", ["local-global", "ridge-optimal"])
def test_the_command_of_a_prediction_says_what_the_page_shows(here, capsys, method):
    # Rows of ridge-optimal depend on the sidebar's ridge, whatever labels are read at.
    here = replace(here, view=View(method=method))
    question = predictions.Question(7, 3, 5, "labels", "leave-one-out")
    found = predictions.explanation(here, question)
    words = shlex.split(predictions.command(here, question))
    assert main(words[3:]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["prediction"] == found.prediction and said["for"][0]["value"] == found.values.max()
    full = replace(question, distilled=False)
    assert predictions.explanation(here, full).distilled is None and "--full" in predictions.command(here, full)


def test_the_code_of_these_pages_is_complete(here, capsys):
    calls = [*predictions.calls(here, predictions.Question()), *health.calls(here)]
    calls += uncertainty.calls(here, "leave-one-out", None)
    code = python(here.run.key, calls)
    exec(code, {})
    assert "Explanation(input=0" in capsys.readouterr().out


def test_filters_leave_the_inputs_that_they_name(here):
    run = here.run
    network = run.test_logits.argmax(axis=1)
    assert (network[predictions.matching(here, "wrong")] != run.test_labels[predictions.matching(here, "wrong")]).all()
    assert len(predictions.matching(here, "all")) == len(predictions.matching(here, "uncertain")) == 500
    assert (run.test_labels[predictions.matching(here, "uncertain", 4)] == 4).all()
    disagree = predictions.matching(here, "disagree")
    assert len(disagree) == round(500 * (1 - here.live.scores(None, here.view.ridge).fidelity))


def test_what_speaks_through_one_gradient_adds_up_to_its_bar(here):
    question = predictions.Question(3)
    found = predictions.explanation(here, question)
    for row in (0, predictions.strongest(found)):
        assert predictions.behind(here, question, found, row).sum() == pytest.approx(found.synthetic[row], rel=1e-6)


def test_a_suspicious_label_is_described_by_its_votes(here):
    found = health.suspicious(here)
    first = int(found.order[0])
    assert f"margin {found.margin[first]:+.3f}, rank 1 of 500" in health.described(here, first)
    assert np.all(np.diff(found.margin[found.order]) >= 0)


def test_the_command_line_examines_a_run(here, capsys):
    here = replace(here, view=View(kernel=3))
    assert main([*shlex.split(health.command(here))[3:], "--top", "3"]) == 0
    said = json.loads(capsys.readouterr().out)
    found = health.suspicious(here)
    assert said["targets_held"] == where(health.insight(here), "logits", 3).targets.tolist()
    assert [each["index"] for each in said["suspicious"]] == found.order[:3].tolist()
    assert main(["health", "--run", here.run.key]) == 0
    assert "labels are outvoted" in capsys.readouterr().out


def test_the_command_line_doubts_as_the_page_does(here, capsys):
    words = shlex.split(uncertainty.command(here, "leave-one-out", None))
    assert main(words[3:]) == 0
    said = json.loads(capsys.readouterr().out)
    found = judged(uncertainty.doubt(here, "leave-one-out").test(), here.run.test_labels)
    assert said["predictors"] == found
    table = uncertainty.numbers(here, "leave-one-out")
    assert list(table["predictor"]) == list(found) and table["NLL"][0] == f"{found['network']['nll']:.4f}"


def clicked(panel, trace: int, point: int) -> dict:
    """What a browser says of a click on a point of a panel."""
    found = panel.figure.data[trace]
    data = None if found.customdata is None else list(found.customdata[point])
    return {"x": found.x[point], "y": found.y[point], "customdata": data, "series": found.name, "axis": found.xaxis}


def test_a_bar_of_a_prediction_opens_the_input_or_gradient_that_it_stands_for(here):
    _, speakers, synthetic = predictions.panels(here)
    picks = [
        predictions.pick_at(here, speakers.key, clicked(speakers, 0, i)) for i in range(len(speakers.figure.data[0].y))
    ]
    shown = [name.split(" ") for name in speakers.figure.data[0].y]
    assert [pick and pick.text for pick in picks] == [
        f"input {words[1]}" if words[0] == "input" else None for words in shown
    ]
    assert predictions.pick_at(here, synthetic.key, clicked(synthetic, 0, 4)).text == "gradient 5"


def test_a_point_of_a_diagram_opens_the_inputs_that_it_counts(here):
    (trust,) = uncertainty.panels(here)
    for place, count in enumerate(trust.figure.data[0].text):
        pick = uncertainty.pick_at(here, trust.key, clicked(trust, 0, place))
        _, index, notes = uncertainty.doubted(here, pick.parts)
        assert len(index) == len(notes) == count
    last = len(trust.figure.data) - 1
    point = clicked(trust, last, 30)
    _, index, _ = uncertainty.doubted(here, uncertainty.pick_at(here, trust.key, point).parts)
    assert len(index) == round(point["x"] * len(here.run.test_labels)) > 0
    assert uncertainty.doubted(here, ("nobody", "bin", "1")) is None


def test_a_bar_of_margins_leads_to_its_first_label(here):
    panel, found = health.labels(here), health.suspicious(here)
    counts = np.array(panel.figure.data[0].y)
    for place in np.flatnonzero(counts)[:5]:
        assert health.rank_at(here, clicked(panel, 0, int(place))) == counts[:place].sum()
    assert len(found.margin) == counts.sum()
