"""Several processes under torchrun: the same features bit for bit, also when one of them is killed."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

from dntk_core.base.spec import InputSpec, ModelSpec, ProjectionSpec, RunSpec
from dntk_core.cache.locks import locked
from dntk_core.cache.store import Store
from dntk_core.cache.workbench import Workbench
from dntk_core.run.pipeline import Run, open_run
from tests.kills import build

ROOT = Path(__file__).resolve().parents[2]
SPEC = RunSpec(model=ModelSpec(epochs=0), inputs=InputSpec(kernel=200, test=100), projection=ProjectionSpec(k=512))
SHARDS, BATCH = 6, 25
LAUNCHER = "torch.distributed.run", "--nproc-per-node", "2", "--master-port", "0", "-m"


def start(folder: Path, spec_file: Path, *flags: str) -> subprocess.Popen:
    environment = os.environ | {"DNTK_CACHE_DIR": str(folder), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-m", *LAUNCHER, "dntk_core", "build", "--spec", str(spec_file), "--batch", str(BATCH)]
    command += flags
    return subprocess.Popen(command, env=environment, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def features(run: Run) -> tuple[np.ndarray, ...]:
    artifact = run.artifacts["features"]
    return tuple(np.array(artifact[name]) for name in ("features", "test_features", "outputs", "test_outputs"))


def children(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def test_two_ranks_share_the_work_one_is_killed_and_started_again_only_the_first_speaks(tmp_path):
    spec_file, cache = tmp_path / "spec.json", tmp_path / "cache"
    spec_file.write_text(SPEC.to_json())
    bench = Workbench(cache / "partial" / f"features-{SPEC.stage_key('features')}")

    def shards() -> int:
        return len([*bench.folder.glob("*.json")])

    bench.open()
    # Held, the third shard keeps the ranks from ending before one of them is killed.
    with locked(bench.folder / "features-100.lock", wait=True):
        ranks = start(cache, spec_file)
        while shards() < 3 and ranks.poll() is None:
            time.sleep(0.01)
        victims = children(ranks.pid)
        assert len(victims) == 2
        os.kill(victims[0], signal.SIGKILL)
        ranks.communicate(timeout=300)
    assert ranks.returncode != 0 and 3 <= shards() < SHARDS
    again = start(cache, spec_file)
    printed, _ = again.communicate(timeout=300)
    assert again.returncode == 0 and printed.decode().count(f"run {SPEC.key}") == 1
    assert not [*(cache / "partial").iterdir()]
    together, alone = open_run(SPEC.key, Store(cache)), build(SPEC, tmp_path / "alone", batch=BATCH)
    assert all(map(np.array_equal, features(together), features(alone)))


def test_every_second_shard_each_without_locks_gives_the_same(tmp_path):
    spec_file, cache = tmp_path / "spec.json", tmp_path / "cache"
    spec_file.write_text(SPEC.to_json())
    ranks = start(cache, spec_file, "--shard", "static")
    alone = build(SPEC, tmp_path / "alone", batch=BATCH)
    printed, said = ranks.communicate(timeout=300)
    assert ranks.returncode == 0 and printed.decode().count(f"run {SPEC.key}") == 1, said
    assert all(map(np.array_equal, features(open_run(SPEC.key, Store(cache))), features(alone)))
