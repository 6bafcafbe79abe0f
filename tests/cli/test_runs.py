"""Runs listed."""

from dntk_core.cli.main import main


def test_runs_lists_the_default_run(default_run, call, capsys):
    assert default_run.key in [entry["key"] for entry in call("runs")]
    main(["runs"])
    assert f"{default_run.key}  20" in capsys.readouterr().out
