"""Checkpoints, series and comparisons from the shell."""

import pytest

from dntk_core.cli.main import main

SHORT = ("--epochs", 2, "--kernel-inputs", 20, "--test-inputs", 12, "--k", 64)


def test_checkpoints_are_kept_followed_and_compared(call, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("DNTK_CACHE_DIR", str(tmp_path / "cache"))
    out = tmp_path / "net.safetensors"
    trained = call("train", "--epochs", 2, "--keep-every", 2, "--out", out)
    assert [path.rsplit("/")[-1] for path in trained["kept"]] == [
        "net-epoch-000.safetensors",
        "net-epoch-002.safetensors",
    ]
    # The last checkpoint is what training leaves.
    assert (tmp_path / "net-epoch-002.safetensors").read_bytes() == out.read_bytes()
    found = call("series", "--weights", tmp_path / "net-epoch-*.safetensors", *SHORT)
    assert found["times"] == [0, 2] and found["linear_error"][0][0] == 0 and len(found["velocity"]) == 1
    assert main(["runs"]) == 0
    assert f"{found['series']}  series of 2 checkpoints" in capsys.readouterr().out
    compared = call("compare-runs", *found["runs"])
    assert compared["cka"] == found["cka"] and compared["trust"] == found["trust"]
    own = [similar[0][1] for similar in compared["cka"][:10]]
    assert [row[c] for c, row in enumerate(compared["classes"])] == pytest.approx(own)
    assert main(["compare-runs", *found["runs"]]) == 0
    printed = capsys.readouterr().out
    assert "networks choose alike on" in printed and "CKA of A's classes (rows) with B's" in printed
    assert main(["series", "--weights", str(tmp_path / "net-epoch-*"), "--model", "resnet18"]) == 2
    assert "another architecture" in capsys.readouterr().err and len(call("runs")["runs"]) == 3
    assert call("gc", found["series"])["bytes_freed"] > 0
    assert [run["key"] for run in call("runs")["runs"]][:1] == found["runs"][1:]
    assert main(["compare-runs", found["runs"][0]]) == 2
    assert main(["train", "--epochs", "2", "--keep", "0,5", "--out", str(out)]) == 2
    assert "kept epochs must be ascending numbers from 0 to 2" in capsys.readouterr().err


def test_groups_are_printed_and_runs_without_them_refused(call, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("DNTK_CACHE_DIR", str(tmp_path / "cache"))
    apart = call("build", *SHORT, "--groups", "^stem conv bn")
    found = call("layers", "--run", apart["key"])
    assert [each["group"] for each in found["groups"]] == ["^stem", "conv", "bn", "others"]
    assert abs(sum(found["trace"]) - 1) < 1e-9
    whole = call("build", *SHORT)
    assert whole["key"] != apart["key"] and main(["layers", "--run", whole["key"]]) == 2
    assert "kept no groups of parameters" in capsys.readouterr().err
    assert main(["build", *map(str, SHORT), "--groups", "nothing"]) == 2
    assert "the group 'nothing' is empty" in capsys.readouterr().err
