"""`dntk uncertainty` prints the judgements that Python gives; a wrong --also is one line."""

import json

import pytest

from dntk_core.cli.main import main
from dntk_core.run.doubt import Doubt, judged
from dntk_core.run.insight import Insight
from dntk_core.run.live import Live


def test_judgements_are_those_of_python(tiny_run, capsys):
    assert main(["uncertainty", "--run", tiny_run.key, "--size", "6", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    live = Live(tiny_run.problem)
    doubt = Doubt(Insight(tiny_run, live), live.distil("local-global", 6, 1e-4))
    expected = judged(doubt.test(), tiny_run.test_labels)
    assert set(found["predictors"]) == set(expected) and found["temperature"] == pytest.approx(doubt.temperature)
    for name, row in expected.items():
        assert found["predictors"][name] == pytest.approx(row)


def test_inputs_to_add_need_a_name_and_a_path(tiny_run, capsys):
    assert main(["uncertainty", "--run", tiny_run.key, "--size", "6", "--also", "nowhere"]) == 2
    error = capsys.readouterr().err
    assert "NAME=PATH" in error and error.count("\n") == 1
