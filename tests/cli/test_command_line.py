"""The command line as a person or a script uses it."""

import io
import json
import subprocess
import sys

import numpy as np
import pytest

from dntk_core.__main__ import main
from dntk_core.base.progress import Progress
from dntk_core.base.terminal import Bar
from dntk_core.readout.ridge import evaluate


def call(capsys, *arguments) -> dict | list:
    assert main([*arguments, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_build_says_what_the_kernels_are_worth(default_run, capsys):
    result = call(capsys, "build", "--epsilon", "0.2")
    assert result["key"] == default_run.key
    assert result["johnson_lindenstrauss"]["k_needed"] == 1382
    assert main(["build"]) == 0
    text = capsys.readouterr().out
    assert "k = 5,527" in text and "measured on 24 inputs" in text


def test_runs_lists_the_default_run(default_run, capsys):
    listed = call(capsys, "runs")
    assert default_run.key in [entry["key"] for entry in listed]
    main(["runs"])
    assert f"{default_run.key}  20" in capsys.readouterr().out


def test_evaluate_gives_the_numbers_of_the_library(default_run, capsys):
    result = call(capsys, "evaluate", "--H", "8", "--tau-v", "0.9", "--tau-g", "0.7", "--ridge", "1e-3")
    full = evaluate(default_run.problem, None, 1e-3)
    assert result["full"]["mse"] == full.mse and result["full"]["s"] == 500
    assert result["s"] == sum(result["rows"].values()) and 8 <= result["s"] < 500
    exact = call(capsys, "evaluate", "--method", "ridge-optimal", "--size", "10")
    np.testing.assert_allclose(exact["scores"]["mse"], exact["full"]["mse"], rtol=1e-6)


def test_compare_prints_a_row_per_method(default_run, capsys):
    assert main(["compare", "--sizes", "5", "--seeds", "1"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "| method | s = 5 |" and any(line.startswith("| kernel PCA |") for line in lines)


@pytest.mark.parametrize(
    "arguments, says",
    [
        (["build", "--k", "0"], "at least 1"),
        (["build", "--k", "many"], "invalid int"),
        (["build", "--data", "nope"], "unknown dataset"),
        (["build", "--spec", "no/such/file"], "cannot be read"),
        (["build", "--epsilon", "2"], "between 0 and 1"),
        (["build", "--device", "abacus"], "not available"),
        (["evaluate", "--run", "zzz"], "no run"),
        (["evaluate", "--method", "nope"], "invalid choice"),
        (["evaluate", "--method", "random"], "needs --size"),
        (["evaluate", "--H", "0"], "must lie in 1..500"),
        (["evaluate", "--tau-v", "1.5"], "tau_v"),
        (["evaluate", "--ridge", "-1"], "ridge"),
        (["gc", "zzz"], "no run"),
        (["fly"], "invalid choice"),
        ([], "required"),
    ],
)
def test_bad_input_is_one_line_and_status_2(default_run, capsys, tmp_path, monkeypatch, arguments, says):
    if "--device" in arguments:
        monkeypatch.setenv("DNTK_CACHE_DIR", str(tmp_path))
    assert main(arguments) == 2
    captured = capsys.readouterr()
    assert captured.out == "" and captured.err.count("\n") == 1
    assert captured.err.startswith("error: ") and says in captured.err


def test_a_spec_file_with_flags_over_it(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("DNTK_CACHE_DIR", str(tmp_path / "cache"))
    (tmp_path / "spec.json").write_text('{"model": {"epochs": 0}, "inputs": {"kernel": 20, "test": 10}}')
    result = call(capsys, "build", "--spec", str(tmp_path / "spec.json"), "--k", "16")
    assert result["k"] == 16 and result["spec"]["inputs"] == {"kernel": 20, "test": 10, "seed": 0}
    assert call(capsys, "gc", result["key"])["bytes_freed"] > 0
    assert call(capsys, "runs") == []


def test_help_and_import_are_quick_enough_to_need_no_torch():
    code = "import sys, dntk_core, dntk_core.__main__; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
    help_text = subprocess.run([sys.executable, "-m", "dntk_core", "--help"], capture_output=True, text=True).stdout
    assert all(command in help_text for command in ("build", "runs", "evaluate", "compare", "gc"))


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_the_bar_shows_share_and_time_left():
    now = [0.0]
    bar = Bar(Terminal(), clock=lambda: now[0])
    for done in (0, 25, 50):
        now[0] = done * 2.0
        bar(Progress("features", done, 100, "loss 1"))
    last = bar.stream.getvalue().split("\r")[-1]
    assert "50/100" in last and "1 min 40 s left" in last and "loss 1" in last and "\n" not in last
