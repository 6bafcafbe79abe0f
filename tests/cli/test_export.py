"""`export` writes what the Export page does."""

import re

import pytest

from dntk_core.dashboard.offline.exporting import make_distilled
from dntk_core.dashboard.offline.pages import open_page
from dntk_core.run.export import load_distilled

VIEW = {"H": "4", "tau_v": "0.7", "tau_g": "0.9", "rule": "union", "ridge": "0.001"}
FLAGS = [word for name, value in VIEW.items() for word in (f"--{name.replace('_', '-')}", value)]


def test_export_writes_the_file_of_the_page(distilled_run, call, tmp_path):
    result = call("export", "--run", distilled_run.key, *FLAGS, "--out", tmp_path / "set.safetensors")
    page = make_distilled(open_page(distilled_run, VIEW), ".safetensors")
    assert (tmp_path / "set.safetensors").read_bytes() == page.content
    assert result["manifest"]["settings"]["H"] == 4 and result["bytes"] == len(page.content)


def test_export_by_method_and_size(distilled_run, call, tmp_path):
    words = ["--method", "kernel PCA", "--size", "3", "--out", tmp_path / "set.npz"]
    manifest = call("export", "--run", distilled_run.key, *words)["manifest"]
    assert manifest["settings"] == {"method": "kernel PCA", "size": 3, "ridge": 0.0001, "readout": "paper", "seed": 0}
    assert load_distilled(tmp_path / "set.npz").mixing.shape == (3, len(distilled_run.targets))
    # The manifest's command gives the manifest's scores.
    program, *evaluate = re.findall(r"'[^']*'|\S+", manifest["command"].removeprefix("python -m "))
    scores = call(*(word.strip("'") for word in evaluate))["scores"]
    assert program == "dntk_core" and scores["mse"] == pytest.approx(manifest["metrics"]["mse"], rel=1e-9)
