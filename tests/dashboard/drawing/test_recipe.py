"""Copied code gives the numbers on screen."""

import json
import shlex

import pytest

from dntk_core.cli.main import main
from dntk_core.dashboard.choices.mixing import current_mixing
from dntk_core.dashboard.choices.view import View
from dntk_core.dashboard.drawing.recipe import python, scores_command
from dntk_core.dashboard.page import Page
from dntk_core.dashboard.sections import distillation
from dntk_core.run.live import Live

VIEWS = (
    View(H=5, tau_v=0.7, tau_g=0.9, ridge=0.001, rule="union", energy="kernel"),
    View(H=5, tau_v=0.6, method="local-global, paper's H", readout="nystrom"),
)


@pytest.mark.parametrize("view", VIEWS, ids=lambda view: view.method)
def test_python_and_command_print_the_scores_of_the_page(default_run, view, capsys):
    live = Live(default_run.problem)
    mixing = current_mixing(live, view)
    shown = live.scores(mixing, view.ridge, view.readout)

    here = Page(default_run, live, view, {})
    exec(python(default_run.key, distillation.calls(here)), {})
    assert capsys.readouterr().out.splitlines()[0] == str(shown)

    program, *arguments = shlex.split(scores_command(here).removeprefix("python -m "))
    assert program == "dntk_core" and main(arguments) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["s"] == mixing.size
    assert printed["scores"] == pytest.approx(shown.scores, rel=1e-9)
