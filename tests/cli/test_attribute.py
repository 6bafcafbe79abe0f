"""The command line explains as Python does."""

import json

import pytest

from dntk_core.cli.main import main
from dntk_core.run.insight import Insight
from dntk_core.run.live import Live


def test_an_explanation_for_scripts_and_for_people(default_run, capsys):
    words = ["attribute", "8", "--run", default_run.key, "--class", "3", "--against", "5", "--size", "12"]
    assert main([*words, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    live = Live(default_run.problem)
    expected = Insight(default_run, live).explain(7, 3, 5, mixing=live.distil("local-global", 12, 1e-4))
    assert (
        found["index"] == 7
        and found["prediction"] == expected.prediction
        and len(found["synthetic"]) == len(expected.synthetic)
    )
    named = sum(each["value"] for side in ("for", "against") for each in found[side])
    assert named + found["rest"] == pytest.approx(found["prediction"], rel=1e-6)
    assert main([*words, "--way", "leave-one-out", "--targets", "labels", "--full"]) == 0
    said = capsys.readouterr().out
    # People count from 1, as on the page.
    assert "Leave-one-out effect, most for:" in said and said.startswith("test input 8, ")


def test_an_input_out_of_range_is_one_line(default_run, capsys):
    for number in ("0", "501"):
        assert main(["attribute", number, "--run", default_run.key]) == 2
        error = capsys.readouterr().err
        assert error.count("\n") == 1 and f"1..500, the run's test inputs, got {number}" in error
