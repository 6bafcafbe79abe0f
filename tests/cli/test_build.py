"""Runs built from flags and spec files, and deleted again."""

from dntk_core.cli.main import main


def test_build_says_what_the_kernels_are_worth(default_run, call, capsys):
    result = call("build", "--epsilon", "0.2")
    assert result["key"] == default_run.key
    assert result["johnson_lindenstrauss"]["k_needed"] == 1382
    assert main(["build"]) == 0
    text = capsys.readouterr().out
    assert "k = 5,527" in text and "measured on 24 inputs" in text


def test_a_spec_file_with_flags_over_it(tmp_path, call, monkeypatch):
    monkeypatch.setenv("DNTK_CACHE_DIR", str(tmp_path / "cache"))
    (tmp_path / "spec.json").write_text('{"model": {"epochs": 0}, "inputs": {"kernel": 20, "test": 10}}')
    result = call("build", "--spec", tmp_path / "spec.json", "--k", "16")
    assert result["k"] == 16 and result["spec"]["inputs"] == {"kernel": 20, "test": 10, "seed": 0}
    assert call("gc", result["key"])["bytes_freed"] > 0
    assert call("runs") == {"runs": [], "series": []}
