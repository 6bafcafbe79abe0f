"""The cache: nothing half-written is seen, nothing damaged is loaded, nothing is computed twice, no pickle runs."""

import hashlib
import json
import os
import pickle
import sqlite3
import time
from pathlib import Path

import numpy as np
import pytest
from artifacts import build_small, fork, put

from dntk_core.base.errors import DNTKError
from dntk_core.base.spec import RunSpec
from dntk_core.cache.index import Index
from dntk_core.cache.store import Store
from dntk_core.cache.workbench import Workbench
from tests.hostile import Planted


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


def test_a_failed_build_leaves_nothing(tmp_path):
    def fail(bench):
        raise DNTKError("no")

    with pytest.raises(DNTKError):
        put(Store(tmp_path), build=fail)
    assert not list((tmp_path / "artifacts").iterdir()) and not list((tmp_path / "scratch").iterdir())


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


def test_sweep_keeps_what_is_needed_and_what_is_locked(tmp_path):
    store = Store(tmp_path)
    for key in ("needed", "locked", "loose"):
        put(store, key=key)
    with store._lock("model", "locked"):
        freed = Store(tmp_path).sweep(lambda stage, key: key == "needed")
    left = {folder.name for folder in (tmp_path / "artifacts").iterdir()}
    assert left == {"model-needed", "model-locked"} and freed > 0
