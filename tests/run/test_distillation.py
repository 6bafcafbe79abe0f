"""Which distilled set is meant, in Python and as a command."""

import shlex

import numpy as np
import pytest

from dntk_core.base.errors import DNTKError
from dntk_core.cli.flags import distillation_of
from dntk_core.cli.main import parser
from dntk_core.readout.ridge import evaluate
from dntk_core.run.distillation import Distillation
from dntk_core.run.live import Live
from tests.synthetic import draw

CHOSEN = (
    Distillation(),
    Distillation(H=4, tau_v=0.7, tau_g=0.9, rule="union", ridge=1e-3, readout="nystrom", energy="kernel"),
    Distillation("local-global, paper's H", size=6, seed=3),
)


@pytest.mark.parametrize("chosen", CHOSEN)
def test_its_command_asks_for_the_same_set(chosen):
    program, *words = shlex.split(chosen.command("abc").removeprefix("python -m "))
    arguments = parser().parse_args(words)
    assert (program, arguments.run) == ("dntk_core", "abc")
    assert distillation_of(arguments).settings == chosen.settings


def test_with_a_size_the_settings_of_algorithm_1_do_not_count():
    assert set(Distillation("random", size=5).settings) == {"method", "size", "ridge", "readout", "seed"}
    with pytest.raises(DNTKError, match="'random' needs --size"):
        Distillation("random")


@pytest.mark.parametrize("chosen", [Distillation(H=4, ridge=1e-3), Distillation("herding", size=5, readout="nystrom")])
def test_its_scores_are_those_of_its_mixing_beside_the_full_readout(chosen):
    problem = draw(0, t=40).problem
    ours, full = chosen.scores(live := Live(problem))
    assert ours == evaluate(problem, chosen.mixing(live), chosen.ridge, chosen.readout)
    np.testing.assert_allclose(full.mse, evaluate(problem, None, chosen.ridge).mse)
