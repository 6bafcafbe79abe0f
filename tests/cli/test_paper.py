"""The paper's experiments as one command: from images to a page, resumed after a kill."""

import json
import os
import re
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from PIL import Image
from safetensors.torch import save_file

from dntk_core.base.spec import ModelSpec
from dntk_core.cli.main import main, parser
from dntk_core.cli.paper import specs
from dntk_core.models.architectures import build_model
from dntk_core.run.pipeline import load_or_build_kernels

CLASSES = ("n01440764", "plain", "stripes")


@pytest.fixture
def images(tmp_path):
    """Noisy pictures of three classes, 16 × 16."""
    rng = np.random.default_rng(0)
    y, x = np.mgrid[:16, :16]
    shapes = (((x - 8) ** 2 + (y - 8) ** 2 < 30), np.ones_like(x), (x // 2 % 2))
    for part, count in (("train", 30), ("val", 20)):
        for name, shape in zip(CLASSES, shapes, strict=True):
            folder = tmp_path / "images" / part / name
            folder.mkdir(parents=True)
            for i in range(count):
                picture = np.clip(160 * shape + rng.normal(40, 25, (16, 16)), 0, 255).astype(np.uint8)
                Image.fromarray(picture).convert("RGB").save(folder / f"{i}.png")
    return tmp_path / "images"


def test_from_images_to_page_unattended_and_resumed(images, tmp_path):
    weights = tmp_path / "weights.safetensors"
    save_file(build_model(ModelSpec("small_resnet", seed=5), 3, CLASSES).state_dict(), weights)
    (tmp_path / "docs").mkdir()
    flags = {
        "data": images,
        "model": "small_resnet",
        "image-size": 16,
        "distilled-size": 16,
        "epochs": 2,
        "per-class": 4,
        "iterations": 5,
        "kernel-inputs": 24,
        "test-inputs": 30,
        "pretrained-model": "small_resnet",
        "pretrained-weights": weights,
        "pretrained-data": images,
        "pretrained-size": 16,
        "blocks-k": 400,
        "out": tmp_path / "docs",
    }
    words = [word for name, value in flags.items() for word in (f"--{name}", str(value))]
    command = [sys.executable, "-m", "dntk_core", "paper", *words, "--json"]
    environment = os.environ | {"DNTK_CACHE_DIR": str(tmp_path / "cache"), "OMP_NUM_THREADS": "1"}
    killed = subprocess.Popen(command, env=environment)
    while not list((tmp_path / "cache" / "artifacts").glob("features-*")):
        assert killed.poll() is None
        time.sleep(0.05)
    killed.send_signal(signal.SIGKILL)
    killed.wait()
    made = {path: path.stat().st_mtime_ns for path in (tmp_path / "cache" / "artifacts").glob("*/meta.json")}
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert len(json.loads(done.stdout)["runs"]) == 6
    assert made and all(path.stat().st_mtime_ns == then for path, then in made.items())
    text = (tmp_path / "docs" / "results.md").read_text()
    assert str(tmp_path) not in text and text.count("peak memory") == 1 and "| tench |" in text
    blocks = text.split("## Blocks")[1].split("## Rules")[0]
    assert all(f"| {group} |" in blocks for group in ("stem", "blocks.0", "blocks.2", "head"))
    assert "| as many random real images, on these |" in text
    claims = json.loads(done.stdout)["claims"]
    summary, everywhere = text.split("## Runs")[0].split("## On every run")
    assert everywhere.count("\n| … in every class | ") == 4 and "| images, random real images" not in everywhere
    assert len(claims) > 20 and all(claim["claim"] in summary for claim in claims)
    pictures = re.findall(r"!\[.*?\]\((.*?)\)", text)
    assert len(pictures) == len(set(pictures)) > 30
    for picture in pictures:
        with Image.open(tmp_path / "docs" / picture) as drawn:
            assert drawn.width == 2000


def test_without_computing_what_is_missing_is_listed(images, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("DNTK_CACHE_DIR", str(tmp_path / "cache"))
    small = ["--image-size", "16", "--distilled-size", "16", "--kernel-inputs", "24", "--test-inputs", "30"]
    words = ["paper", "--data", str(images), "--model", "small_resnet", "--epochs", "1", *small, "--finished"]
    assert main([*words, "--out", str(tmp_path)]) == 2
    assert "none of the runs is in the cache" in capsys.readouterr().err
    arguments = parser().parse_args(words)
    load_or_build_kernels(specs(arguments)["images, real images"])
    assert main([*words, "--out", str(tmp_path)]) == 0
    text = (tmp_path / "results.md").read_text()
    assert text.count("*not finished*") == 4 and "Of the run nearest to the paper's: **images, real images**" in text
    assert "the run “images, distilled images” is not finished" in text
