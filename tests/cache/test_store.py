"""The cache: nothing half-written is seen, nothing damaged is loaded, nothing is computed twice, no pickle runs."""

import hashlib
import json
import multiprocessing
import os
import pickle
import signal
import sqlite3
import time
from pathlib import Path

import numpy as np
import pytest

from dntk_core.base.errors import DNTKError
from dntk_core.base.spec import RunSpec
from dntk_core.cache.index import Index
from dntk_core.cache.store import Store
from dntk_core.cache.workbench import Workbench
from tests.hostile import Planted

fork = multiprocessing.get_context("fork")


def build_small(bench):
    return {"numbers": np.arange(6.0).reshape(2, 3), "raw.bin": b"abc"}, {"remark": 1}


def put(store, stage="model", key="k", build=build_small):
    return store.load_or_build(stage, key, "{}", build)


def test_round_trip_and_permissions(tmp_path):
    store = Store(tmp_path / "cache")
    artifact = put(store)
    assert np.array_equal(artifact["numbers"], np.arange(6.0).reshape(2, 3))
    assert artifact.read("raw.bin") == b"abc" and artifact.note == {"remark": 1}
    assert isinstance(artifact["numbers"], np.memmap)
    assert (tmp_path / "cache").stat().st_mode & 0o777 == 0o700
    assert put(store, build=None)["numbers"].shape == (2, 3)


def test_an_environment_variable_names_the_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("DNTK_CACHE_DIR", str(tmp_path / "elsewhere"))
    assert Store().root == tmp_path / "elsewhere"


@pytest.mark.parametrize("damage", ["flip", "truncate", "empty", "remove", "no meta", "bad meta", "list meta"])
def test_a_damaged_artifact_is_set_aside_and_computed_anew(tmp_path, damage):
    put(Store(tmp_path))
    folder = tmp_path / "artifacts" / "model-k"
    array, meta = folder / "numbers.npy", folder / "meta.json"
    content = bytearray(array.read_bytes())
    content[-3] ^= 1
    {
        "flip": lambda: array.write_bytes(content),
        "truncate": lambda: os.truncate(array, len(content) - 8),
        "empty": lambda: os.truncate(array, 0),
        "remove": array.unlink,
        "no meta": meta.unlink,
        "bad meta": lambda: meta.write_text("{"),
        "list meta": lambda: meta.write_text("[]"),
    }[damage]()
    store, calls = Store(tmp_path), []
    with pytest.warns(UserWarning, match="damaged"):
        artifact = put(store, build=lambda bench: calls.append(1) or build_small(bench))
    assert calls == [1] and np.array_equal(artifact["numbers"], np.arange(6.0).reshape(2, 3))
    assert len(list((tmp_path / "damaged").iterdir())) == 1


ENTRY = {"bytes": 6, "sha256": hashlib.sha256(b"secret").hexdigest()}


@pytest.mark.parametrize(
    "name", ["../../../secret", "/etc/passwd", "a/../../../../secret", "", ".", "..", "a\0b", "x" * 300]
)
def test_a_description_never_leads_out_of_its_folder(tmp_path, name, monkeypatch):
    root = tmp_path / "cache"
    (tmp_path / "secret").write_bytes(b"secret")
    put(Store(root))
    meta = root / "artifacts" / "model-k" / "meta.json"
    described = json.loads(meta.read_text())
    described["files"][name] = ENTRY
    meta.write_text(json.dumps(described))
    bench = Workbench(root / "partial" / "model-k")
    bench.open()
    (bench.folder / "s0.json").write_text(json.dumps({name: ENTRY}))
    looked = []
    for call in ("lstat", "stat"):
        real = getattr(Path, call)
        monkeypatch.setattr(
            Path, call, lambda p, *a, real=real, **k: looked.append(os.path.normpath(p)) or real(p, *a, **k)
        )
    with pytest.warns(UserWarning, match="damaged"):
        assert Store(root).get("model", "k") is None
    assert bench.find("s0") is None
    assert looked and all(path.startswith(str(root)) for path in looked)


@pytest.mark.parametrize("kind", ["link", "fifo", "folder"])
def test_only_plain_files_are_read(tmp_path, kind):
    put(Store(tmp_path))
    array = tmp_path / "artifacts" / "model-k" / "numbers.npy"
    elsewhere = tmp_path / "same.npy"
    os.rename(array, elsewhere)
    {"link": lambda: array.symlink_to(elsewhere), "fifo": lambda: os.mkfifo(array), "folder": array.mkdir}[kind]()
    with pytest.warns(UserWarning, match="is not a file"):
        assert Store(tmp_path).get("model", "k") is None


@pytest.mark.parametrize(
    "change",
    [
        {"files": []},
        {"files": {"numbers.npy": None}},
        {"files": {"numbers.npy": {"bytes": "9", "sha256": "0" * 64}}},
        {"files": {"numbers.npy": {"bytes": 9, "sha256": "../.."}}},
        {"note": None},
        {"created": "today"},
        {"extra": 1},
    ],
)
def test_a_description_of_another_form_counts_as_damaged(tmp_path, change):
    put(Store(tmp_path), stage="kernels")
    meta = tmp_path / "artifacts" / "kernels-k" / "meta.json"
    meta.write_text(json.dumps(json.loads(meta.read_text()) | change))
    assert Index(Store(tmp_path)).all() == []
    with pytest.warns(UserWarning, match="damaged"):
        assert Store(tmp_path).get("kernels", "k") is None


def test_a_file_without_a_checksum_is_not_read(tmp_path):
    put(Store(tmp_path))
    meta = tmp_path / "artifacts" / "model-k" / "meta.json"
    meta.write_text(json.dumps(json.loads(meta.read_text()) | {"files": {}}))
    artifact = Store(tmp_path).get("model", "k")
    for read in (lambda: artifact["numbers"], lambda: artifact.read("raw.bin"), lambda: artifact.read("../../x")):
        with pytest.raises(DNTKError, match="no checksum"):
            read()


@pytest.mark.parametrize("text", ["[" * 10**5, '{"spec": 1}', '{"spec": "{}", "created": "today"}'])
def test_an_index_entry_of_another_form_is_left_out(tmp_path, text):
    index = Index(Store(tmp_path))
    with index._open() as cache:
        cache[RunSpec.default().key] = text
    assert index.all() == []


def test_a_failed_build_leaves_nothing(tmp_path):
    def fail(bench):
        raise DNTKError("no")

    with pytest.raises(DNTKError):
        put(Store(tmp_path), build=fail)
    assert not list((tmp_path / "artifacts").iterdir()) and not list((tmp_path / "scratch").iterdir())


def test_python_objects_are_not_stored(tmp_path):
    with pytest.raises(DNTKError, match="Python objects"):
        put(Store(tmp_path), build=lambda bench: ({"x": np.array([{}])}, {}))


def test_a_folder_that_cannot_be_written_is_named(tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("")
    with pytest.raises(DNTKError, match="DNTK_CACHE_DIR"):
        put(Store(blocked))


def slow_build(root, log):
    def build(bench):
        with open(log, "a") as file:
            file.write("built\n")
        time.sleep(0.3)
        return build_small(bench)

    assert put(Store(root), build=build)["numbers"].sum() == 15


def test_eight_processes_compute_once(tmp_path):
    log = tmp_path / "log"
    workers = [fork.Process(target=slow_build, args=(tmp_path / "cache", log)) for _ in range(8)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert [worker.exitcode for worker in workers] == [0] * 8
    assert log.read_text() == "built\n"


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


def share_shards(root, log, pause):
    def shard(name):
        with open(log, "a") as file:
            file.write(f"{name} {os.getpid()}\n")
        time.sleep(pause)
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
    workers = [fork.Process(target=share_shards, args=(root, log, 0.1)) for _ in range(3)]
    for worker in workers:
        worker.start()
    while not log.exists() or len(log.read_text().splitlines()) < 4:
        time.sleep(0.005)
    os.kill(workers[0].pid, signal.SIGKILL)
    for worker in workers:
        worker.join()
    assert [worker.exitcode for worker in workers[1:]] == [0, 0]
    assert np.array_equal(share_shards(root, log, 0.0)["all"], np.repeat(np.arange(10.0), 4))
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


def test_planted_pickles_do_not_run(tmp_path):
    proof = tmp_path / "executed"
    root = tmp_path / "cache"
    store, index = Store(root), Index(Store(root))
    put(store)
    index.begin(RunSpec.default())
    blob = pickle.dumps(Planted(proof))
    np.save(root / "artifacts" / "model-k" / "numbers.npy", np.array([Planted(proof)]), allow_pickle=True)
    with sqlite3.connect(root / "index" / "cache.db") as database:
        database.execute("UPDATE Cache SET mode = 4, value = ?, filename = NULL", (blob,))
        database.execute(
            "INSERT INTO Cache (key, raw, value, mode, store_time, access_time) VALUES (?, 0, ?, 4, 0, 0)", (blob, blob)
        )
    assert index.all() == []
    with pytest.warns(UserWarning, match="damaged"):
        assert store.get("model", "k") is None
    # Also with a checksum that fits.
    folder = root / "artifacts" / "model-k"
    put(store)
    np.save(folder / "numbers.npy", np.array([Planted(proof)]), allow_pickle=True)
    meta = json.loads((folder / "meta.json").read_text())
    content = (folder / "numbers.npy").read_bytes()
    meta["files"]["numbers.npy"] |= {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
    (folder / "meta.json").write_text(json.dumps(meta))
    with pytest.raises(ValueError, match="Python objects"):
        Store(root).get("model", "k")["numbers"]
    bench = Workbench(root / "partial" / "model-k")
    bench.shard("s0", lambda: {"part": np.ones(3)})
    shard, described = bench.folder / "s0.part.npy", bench.folder / "s0.json"
    for content in (folder.joinpath("numbers.npy").read_bytes(), blob):
        shard.write_bytes(content)
        entry = {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
        described.write_text(json.dumps({shard.name: entry}))
        assert bench.find("s0") is None
    assert not proof.exists()


def test_the_index_is_rebuilt_from_the_artifacts_when_lost_or_damaged(tmp_path):
    spec, store = RunSpec.default(), Store(tmp_path)
    for stage in spec.stages:
        store.load_or_build(stage, spec.stage_key(stage), spec.to_json(), build_small)
    index = Index(store)
    (info,) = index.all()
    assert info.key == spec.key and info.spec == spec and info.finished and info.bytes > 0
    (tmp_path / "index" / "cache.db").write_bytes(b"not a database, not at all, not even close" * 100)
    assert [again.key for again in Index(store).all()] == [spec.key]


def test_the_index_never_evicts(tmp_path):
    index = Index(Store(tmp_path))
    index.begin(RunSpec.default())
    with index._open() as cache:
        assert cache.eviction_policy == "none" and cache.cull_limit == 0
        with pytest.raises(DNTKError, match="text only"):
            cache["key"] = {"a": 1}


def test_sweep_keeps_what_is_needed_and_what_is_locked(tmp_path):
    store = Store(tmp_path)
    for key in ("needed", "locked", "loose"):
        put(store, key=key)
    with store._lock("model", "locked"):
        freed = Store(tmp_path).sweep(lambda stage, key: key == "needed")
    left = {folder.name for folder in (tmp_path / "artifacts").iterdir()}
    assert left == {"model-needed", "model-locked"} and freed > 0
