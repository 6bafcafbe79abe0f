"""Several processes under torchrun: the same features bit for bit, also when one of them is killed."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from dntk_core.base.spec import InputSpec, ModelSpec, ProjectionSpec, RunSpec
from dntk_core.cache.store import Store
from dntk_core.run.pipeline import open_run

ROOT = Path(__file__).resolve().parents[2]
SPEC = RunSpec(model=ModelSpec(epochs=0), inputs=InputSpec(kernel=400, test=200), projection=ProjectionSpec(k=512))
LAUNCHER = "torch.distributed.run", "--nproc-per-node", "2", "--master-port", "0", "-m"


@pytest.fixture(scope="module")
def spec_file(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("spec") / "spec.json"
    path.write_text(SPEC.to_json())
    return path


def start(folder: Path, spec_file: Path, *launcher: str) -> subprocess.Popen:
    environment = os.environ | {"DNTK_CACHE_DIR": str(folder), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-m", *launcher, "dntk_core", "build", "--spec", str(spec_file), "--batch", "25"]
    return subprocess.Popen(command, env=environment, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def features(folder: Path) -> tuple[np.ndarray, ...]:
    artifact = open_run(SPEC.key, Store(folder)).artifacts["features"]
    return tuple(np.array(artifact[name]) for name in ("features", "test_features", "outputs", "test_outputs"))


def same(left: tuple[np.ndarray, ...], right: tuple[np.ndarray, ...]) -> bool:
    return all(map(np.array_equal, left, right))


@pytest.fixture(scope="module")
def alone(tmp_path_factory, spec_file) -> tuple[np.ndarray, ...]:
    """What one process computes."""
    folder = tmp_path_factory.mktemp("alone")
    assert start(folder, spec_file).wait(timeout=300) == 0
    return features(folder)


def children(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def shards(folder: Path) -> int:
    return len(list((folder / "partial").glob("features-*/*.json")))


def test_two_ranks_share_the_work_and_only_the_first_speaks(tmp_path, spec_file, alone):
    ranks = start(tmp_path, spec_file, *LAUNCHER)
    printed, _ = ranks.communicate(timeout=300)
    assert ranks.returncode == 0 and printed.decode().count(f"run {SPEC.key}") == 1
    assert same(features(tmp_path), alone)
    assert not list((tmp_path / "partial").iterdir())


def test_one_of_two_ranks_killed_and_started_again(tmp_path, spec_file, alone):
    ranks = start(tmp_path, spec_file, *LAUNCHER)
    while shards(tmp_path) < 3 and ranks.poll() is None:
        time.sleep(0.01)
    victims = children(ranks.pid)
    assert len(victims) == 2
    os.kill(victims[0], signal.SIGKILL)
    ranks.communicate(timeout=300)
    assert ranks.returncode != 0
    done = shards(tmp_path)
    assert 3 <= done < 12
    again = start(tmp_path, spec_file, *LAUNCHER)
    again.communicate(timeout=300)
    assert again.returncode == 0
    assert same(features(tmp_path), alone)
