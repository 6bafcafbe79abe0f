"""The program as a person or a script meets it."""

import argparse
import os
import re
import subprocess
import sys
import warnings

import pytest

from dntk_core.cli.main import BROKEN_PIPE, COMMANDS, main, parser

PROGRAM = [sys.executable, "-m", "dntk_core"]


@pytest.mark.parametrize(
    "words, says",
    [
        ("build --k 0", "at least 1"),
        ("build --k many", "invalid int"),
        ("build --data nope", "unknown dataset"),
        ("build --spec no/such/file", "cannot be read"),
        ("build --epsilon 2", "between 0 and 1"),
        ("build --device abacus", "not available"),
        ("build --distill nope", "invalid choice"),
        ("train --out weights.txt", ".safetensors file"),
        ("evaluate --run zzz", "no run"),
        ("evaluate --method nope", "invalid choice"),
        ("evaluate --method random", "needs --size"),
        ("evaluate --H 0", "must lie in 1..500"),
        ("evaluate --tau-v 1.5", "tau_v"),
        ("evaluate --ridge -1", "ridge"),
        ("export --out set.zip", "*.safetensors or *.npz"),
        ("report --out report.html --tau-v 7", "allowed is 0.05 to 0.995"),
        ("serve --root no/such/folder", "is not a folder"),
        ("serve --port 0", "1..65535"),
        ("completion tcsh", "invalid choice"),
        ("gc zzz", "no run"),
        ("fly", "invalid choice"),
        ("", "required"),
    ],
)
def test_bad_input_is_one_line_and_status_2(default_run, capsys, tmp_path, monkeypatch, words, says):
    if "--device" in words:
        monkeypatch.setenv("DNTK_CACHE_DIR", str(tmp_path))
    assert main(words.split()) == 2
    captured = capsys.readouterr()
    assert captured.out == "" and captured.err.count("\n") == 1
    assert captured.err.startswith("error: ") and says in captured.err


def arguments_of(name: str) -> list[argparse.Action]:
    return parser().get_default("commands")[name]._actions


@pytest.mark.parametrize("name", COMMANDS)
def test_every_flag_says_what_it_does(name):
    for action in arguments_of(name):
        # A default, in brackets, is not an explanation.
        text = re.sub(r"\(.*?\)", "", action.help or "")
        assert len(text.split()) >= 3 and not text.lower().startswith("default"), action.option_strings


def test_help_groups_the_flags_of_a_run(capsys):
    with pytest.raises(SystemExit) as end:
        main(["build", "--help"])
    assert end.value.code == 0
    text = capsys.readouterr().out
    titles = ["data:", "model:", "inputs:", "projection:", "dataset distillation:", "computing:"]
    places = [text.index(f"\n{title}\n") for title in titles]
    assert places == sorted(places)
    assert "--kernel-inputs" in text[places[2] : places[3]] and "--device" in text[places[5] :]


def test_help_and_import_are_quick_enough_to_need_no_torch():
    code = "import sys, dntk_core, dntk_core.cli.main; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
    help_text = subprocess.run([*PROGRAM, "--help"], capture_output=True, text=True).stdout
    assert all(f"\n    {command}" in help_text for command in COMMANDS)


@pytest.mark.parametrize("words", ["runs", "completion bash"])
def test_a_reader_that_has_enough_is_no_error(tmp_path, words):
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    environment = os.environ | {"DNTK_CACHE_DIR": str(tmp_path)}
    process = subprocess.Popen([*PROGRAM, *words.split()], env=environment, **pipes)
    process.stdout.close()
    assert process.stderr.read() == b"" and process.wait() == BROKEN_PIPE


@pytest.mark.parametrize("command", ["report --out x.html", "serve", "paper --data x"])
def test_without_the_dashboards_packages_one_sentence_says_what_to_install(command):
    code = f"import sys; sys.modules['streamlit'] = None; from dntk_core.cli.main import main; main({command.split()})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stderr == 'error: streamlit is not installed; `pip install "dntk[dashboard]"` brings it\n'


def test_a_warning_is_one_sentence(monkeypatch, capsys):
    def run(arguments):
        warnings.warn("k is near m", stacklevel=2)
        return {}, "done"

    monkeypatch.setattr(COMMANDS["runs"], "run", run)
    assert main(["runs"]) == 0
    assert capsys.readouterr() == ("done\n", "warning: k is near m\n")
