"""Shards and checkpoints: found again after a kill, shared by processes, verified once."""

import os
import signal
import time

import numpy as np
import pytest
from artifacts import fork, put

from dntk_core.cache.store import Store
from dntk_core.cache.workbench import Checkpoints, Workbench


def build_shards(root, log, pause):
    def shard(i):
        with open(log, "a") as file:
            file.write(f"{i}\n")
        time.sleep(pause)
        return {"part": np.full(4, float(i))}

    def build(bench):
        parts = [bench.shard(f"s{i}", lambda i=i: shard(i))["part"] for i in range(10)]
        return {"all": np.concatenate(parts)}, {}

    return put(Store(root), build=build)


def test_killed_at_any_moment_it_resumes_and_finished_shards_are_not_computed_again(tmp_path):
    root, log = tmp_path / "cache", tmp_path / "log"
    rng = np.random.default_rng(0)
    for _ in range(4):
        worker = fork.Process(target=build_shards, args=(root, log, 0.05))
        worker.start()
        time.sleep(rng.uniform(0.02, 0.3))
        os.kill(worker.pid, signal.SIGKILL)
        worker.join()
    artifact = build_shards(root, log, 0.0)
    assert np.array_equal(artifact["all"], np.repeat(np.arange(10.0), 4))
    computed = [int(line) for line in log.read_text().split()]
    # A kill may cost the shard under way, never a finished one.
    assert set(computed) == set(range(10)) and len(computed) <= 10 + 4 and computed == sorted(computed)
    assert not (root / "partial" / "model-k").exists()


def share_shards(root, log, together=None):
    """Each process begins its first shard with the others, however late one of them is started."""
    begun = []

    def shard(name):
        with open(log, "a") as file:
            file.write(f"{name} {os.getpid()}\n")
        if together and not begun:
            together.wait(60)
        begun.append(name)
        time.sleep(0.1)
        return {"part": np.full(4, float(name[1:]))}

    names = [f"s{i}" for i in range(10)]

    def help(bench):
        for _ in bench.share(names, shard):
            pass

    def build(bench):
        bench.open()
        help(bench)
        return {"all": np.concatenate([bench.find(name)["part"] for name in names])}, {}

    store = Store(root)
    return store.load_or_build("model", "k", "{}", build, help)


def test_processes_share_the_shards_and_a_killed_one_leaves_its_own_to_the_others(tmp_path):
    root, log = tmp_path / "cache", tmp_path / "log"
    together = fork.Barrier(3)
    workers = [fork.Process(target=share_shards, args=(root, log, together)) for _ in range(3)]
    for worker in workers:
        worker.start()
    while not log.exists() or len(log.read_text().splitlines()) < 4:
        time.sleep(0.005)
    os.kill(workers[0].pid, signal.SIGKILL)
    for worker in workers:
        worker.join()
    assert [worker.exitcode for worker in workers[1:]] == [0, 0]
    assert np.array_equal(share_shards(root, log)["all"], np.repeat(np.arange(10.0), 4))
    begun = [line.split() for line in log.read_text().splitlines()]
    # Every shard once, but for the one that was lost; by all processes.
    assert {name for name, _ in begun} == {f"s{i}" for i in range(10)} and len(begun) <= 11
    assert {pid for _, pid in begun} == {str(worker.pid) for worker in workers}
    assert not list((root / "partial").iterdir())


def test_a_killed_holder_blocks_nobody(tmp_path):
    log = tmp_path / "log"
    worker = fork.Process(target=build_shards, args=(tmp_path / "cache", log, 60))
    worker.start()
    while not log.exists():
        time.sleep(0.01)
    os.kill(worker.pid, signal.SIGKILL)
    worker.join()
    assert put(Store(tmp_path / "cache"))["numbers"].sum() == 15


def test_a_damaged_shard_is_computed_again(tmp_path):
    store = Store(tmp_path)

    def interrupted(bench):
        bench.shard("s0", lambda: {"part": np.ones(3)})
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        put(store, build=interrupted)
    (shard,) = (tmp_path / "partial" / "model-k").glob("*.npy")
    shard.write_bytes(shard.read_bytes()[:-1])
    again = put(store, build=lambda bench: ({"x": bench.shard("s0", lambda: {"part": np.zeros(3)})["part"]}, {}))
    assert again["x"].sum() == 0


def test_a_shard_is_not_there_without_its_description(tmp_path):
    bench = Workbench(tmp_path)
    bench.shard("s0", lambda: {"part": np.ones(3), "more": np.zeros(2)})
    assert bench.has("s0") and set(bench.find("s0")) == {"part", "more"}
    (tmp_path / "s0.json").unlink()
    assert not bench.has("s0") and bench.find("s0") is None
    bench.shard("s0", lambda: {"part": np.ones(3)})
    bench.drop("s0")
    bench.drop("s0")
    assert not list(tmp_path.iterdir())


def test_of_checkpoints_the_newest_stays(tmp_path):
    checkpoints = Checkpoints(Workbench(tmp_path), "epoch")
    assert checkpoints.newest() is None
    for step in (9, 10):
        checkpoints.keep(step, {"state": np.full(2, float(step))})
    step, arrays = checkpoints.newest()
    assert step == 10 and arrays["state"].tolist() == [10, 10]
    assert [path.name for path in tmp_path.glob("*.json")] == ["epoch-10.json"]


def test_a_damaged_checkpoint_is_skipped_for_an_older_one(tmp_path):
    bench = Workbench(tmp_path)
    for step in (1, 2):
        bench.shard(f"epoch-{step}", lambda step=step: {"state": np.full(2, float(step))})
    # What another loop keeps under a longer name is not this one's.
    bench.shard("epoch-of-another-7", lambda: {"state": np.zeros(2)})
    os.truncate(tmp_path / "epoch-2.state.npy", 10)
    step, arrays = Checkpoints(Workbench(tmp_path), "epoch").newest()
    assert step == 1 and arrays["state"].tolist() == [1, 1]


def test_checkpoints_whose_names_begin_alike_are_kept_apart(tmp_path):
    bench = Workbench(tmp_path / "bench")
    for name, step in (("images-0", 75), ("images-0-10", 25)):
        Checkpoints(bench, name).keep(step, {"x": np.zeros(3)})
    assert Checkpoints(bench, "images-0").newest()[0] == 75 and Checkpoints(bench, "images-0-10").newest()[0] == 25
