"""Methods compared on the command line."""

from dntk_core.cli.main import main


def test_compare_prints_a_row_per_method(default_run, capsys):
    assert main(["compare", "--sizes", "5", "--seeds", "1"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "| method | s = 5 |" and any(line.startswith("| kernel PCA |") for line in lines)
