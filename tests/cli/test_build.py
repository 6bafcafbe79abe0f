"""Runs built from flags and spec files, listed, deleted."""

from operator import attrgetter

from dntk_core.cli.main import main, parser
from dntk_core.cli.spec_flags import FLAGS, spec_of


def test_build_says_what_the_kernels_are_worth(default_run, call, capsys):
    result = call("build", "--epsilon", "0.2")
    assert result["key"] == default_run.key
    assert result["johnson_lindenstrauss"]["k_needed"] == 1382
    assert main(["build"]) == 0
    text = capsys.readouterr().out
    assert "k = 5,527" in text and "measured on 24 inputs" in text


def test_runs_lists_the_default_run(default_run, call, capsys):
    assert default_run.key in [entry["key"] for entry in call("runs")]
    main(["runs"])
    assert f"{default_run.key}  20" in capsys.readouterr().out


def test_a_spec_file_with_flags_over_it(tmp_path, call, monkeypatch):
    monkeypatch.setenv("DNTK_CACHE_DIR", str(tmp_path / "cache"))
    (tmp_path / "spec.json").write_text('{"model": {"epochs": 0}, "inputs": {"kernel": 20, "test": 10}}')
    result = call("build", "--spec", tmp_path / "spec.json", "--k", "16")
    assert result["k"] == 16 and result["spec"]["inputs"] == {"kernel": 20, "test": 10, "seed": 0}
    assert call("gc", result["key"])["bytes_freed"] > 0
    assert call("runs") == []


def test_every_flag_sets_its_field_and_old_names_still_do():
    for flag in FLAGS:
        value = flag.choices[-1] if flag.choices else {str: "1", int: 7, float: 0.5}[type(flag.default)]
        for name in flag.names.split():
            spec = spec_of(parser().parse_args(["build", name, str(value)]))
            assert attrgetter(flag.field)(spec) == value, name
    assert {"--distill", "--distill-seed"} <= {name for flag in FLAGS for name in flag.names.split()}
