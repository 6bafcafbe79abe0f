"""The cache: nothing half-written is seen, nothing damaged is loaded, nothing is computed twice, no pickle runs."""

import errno
import hashlib
import io
import json
import os
import pickle
import sqlite3
import time
from pathlib import Path

import numpy as np
import pytest
from artifacts import build_small, fork, put, rewrite

from dntk_core.base.errors import DNTKError, Vanished
from dntk_core.base.spec import RunSpec
from dntk_core.cache import store as store_module
from dntk_core.cache.artifact import Artifact, read_meta
from dntk_core.cache.index import Index
from dntk_core.cache.store import Store
from dntk_core.cache.workbench import Workbench
from tests.hostile import Planted


def test_round_trip_and_permissions(tmp_path):
    store = Store(tmp_path / "cache")
    artifact = put(store)
    assert np.array_equal(artifact["numbers"], np.arange(6.0).reshape(2, 3))
    assert artifact.read("raw.bin") == b"abc" and artifact.note == {"remark": 1}
    assert not artifact["numbers"].flags.writeable
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
    rewrite(meta, {"files": json.loads(meta.read_text())["files"] | {name: ENTRY}})
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
    rewrite(tmp_path / "artifacts" / "kernels-k" / "meta.json", change)
    assert Index(Store(tmp_path)).all() == []
    with pytest.warns(UserWarning, match="damaged"):
        assert Store(tmp_path).get("kernels", "k") is None


def test_a_file_without_a_checksum_is_not_read(tmp_path):
    put(Store(tmp_path))
    rewrite(tmp_path / "artifacts" / "model-k" / "meta.json", {"files": {}})
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
    index.all()
    blob = pickle.dumps(Planted(proof))
    np.save(root / "artifacts" / "model-k" / "numbers.npy", np.array([Planted(proof)]), allow_pickle=True)
    with sqlite3.connect(root / "index" / "cache.db") as database:
        database.execute("UPDATE Cache SET mode = 4, value = ?, filename = NULL", (blob,))
        database.execute(
            "INSERT INTO Cache (key, raw, value, mode, store_time, access_time) VALUES (?, 0, ?, 4, 0, 0)", (blob, blob)
        )
    assert [info.key for info in index.all()] == [RunSpec.default().key]
    with pytest.warns(UserWarning, match="damaged"):
        assert store.get("model", "k") is None
    # Also with a checksum that fits.
    folder = root / "artifacts" / "model-k"
    put(store)
    np.save(folder / "numbers.npy", np.array([Planted(proof)]), allow_pickle=True)
    meta = json.loads((folder / "meta.json").read_text())
    content = (folder / "numbers.npy").read_bytes()
    meta["files"]["numbers.npy"] |= {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
    rewrite(folder / "meta.json", {"files": meta["files"]})
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
        freed = Store(tmp_path).sweep(lambda: {("model", "needed")})
    left = {folder.name for folder in (tmp_path / "artifacts").iterdir()}
    assert left == {"model-needed", "model-locked"} and freed > 0


@pytest.mark.parametrize("code", [errno.EMFILE, errno.ESTALE, errno.EACCES, errno.EIO])
def test_what_cannot_be_read_now_is_not_taken_for_damaged(tmp_path, monkeypatch, code):
    put(Store(tmp_path))
    real = io.open
    for name in ("meta.json", "numbers.npy"):

        def fail(path, *args, name=name, **kwargs):
            if str(path).endswith(name):
                raise OSError(code, os.strerror(code))
            return real(path, *args, **kwargs)

        with monkeypatch.context() as patch:
            patch.setattr("io.open", fail)
            patch.setattr("builtins.open", fail)
            with pytest.raises(DNTKError, match=r"cannot be read now .* nothing was changed: try again"):
                Store(tmp_path).get("model", "k")
    assert not (tmp_path / "damaged").exists() and Store(tmp_path).get("model", "k") is not None


def test_every_flipped_bit_of_a_description_is_seen(tmp_path):
    put(Store(tmp_path))
    meta = tmp_path / "artifacts" / "model-k" / "meta.json"
    sound, wanted = meta.read_bytes(), Store(tmp_path).get("model", "k").meta
    for bit in map(int, np.random.default_rng(0).permutation(8 * len(sound))[:600]):
        content = bytearray(sound)
        content[bit // 8] ^= 1 << bit % 8
        meta.write_bytes(content)
        try:
            found = read_meta(meta.parent)
        except DNTKError:
            continue
        assert found == wanted


def test_a_description_without_a_checksum_is_that_of_an_older_version(tmp_path):
    put(Store(tmp_path))
    meta = tmp_path / "artifacts" / "model-k" / "meta.json"
    described = json.loads(meta.read_text())
    del described["sha256"]
    meta.write_text(json.dumps(described))
    assert Store(tmp_path).get("model", "k").note == {"remark": 1}


def test_what_is_damaged_stays_until_it_is_asked_for_by_name(tmp_path):
    store = Store(tmp_path)
    put(store)
    (tmp_path / "artifacts" / "model-k" / "numbers.npy").unlink()
    with pytest.warns(UserWarning, match="damaged"):
        assert store.get("model", "k") is None
    store.sweep(set)
    assert len(list((tmp_path / "damaged").iterdir())) == 1
    assert store.discard_damaged() > 0 and not (tmp_path / "damaged").exists()


def publish_again_and_again(root, name, swept, results):
    """In a process of its own, so slowly that every sweep meets something half-written."""
    done, failed, write = 0, 0, store_module.write
    store_module.write = lambda *content: (write(*content), time.sleep(0.02))[0]
    while done + failed <= 10 or not swept.is_set():
        try:
            done += isinstance(put(Store(root), key=f"{name}{done}"), Artifact)
        except Exception:
            failed += 1
    results.put((done, failed))


class Everything(set):
    """All that is published is needed: nothing but scratch is swept."""

    def __contains__(self, pair):
        return True


def test_a_sweep_leaves_live_publishers_alone(tmp_path):
    results, swept = fork.Queue(), fork.Event()
    arguments = [(tmp_path, name, swept, results) for name in ("a", "b")]
    workers = [fork.Process(target=publish_again_and_again, args=each) for each in arguments]
    for worker in workers:
        worker.start()
    sweeps = 0
    while any(worker.is_alive() for worker in workers) and results.qsize() < len(workers):
        Store(tmp_path).sweep(Everything)
        sweeps += 1
        if sweeps > 10:
            swept.set()
    counts = [results.get(timeout=60) for _ in workers]
    for worker in workers:
        worker.join()
    assert sweeps > 10 and all(done > 10 and failed == 0 for done, failed in counts), (sweeps, counts)


def test_a_killed_publishers_scratch_is_swept(tmp_path):
    store = Store(tmp_path)
    put(store)
    left = tmp_path / "scratch" / f"model-k-{'0' * 32}"
    left.mkdir()
    with store._lock("model", "k"):
        Store(tmp_path).sweep(lambda: {("model", "k")})
        assert left.is_dir()
    Store(tmp_path).sweep(lambda: {("model", "k")})
    assert not left.exists() and store.get("model", "k") is not None


def test_an_artifact_under_construction_is_not_deleted(tmp_path):
    store = Store(tmp_path)
    put(store)
    with store._lock("model", "k"), pytest.raises(DNTKError, match="is being computed; stop that first"):
        Store(tmp_path).delete("model", "k")
    Store(tmp_path).delete("model", "k")
    assert store.get("model", "k") is None


@pytest.mark.parametrize(
    "note", [{"class_names": 3}, {"class_names": [1]}, {"test_accuracy": "high"}, {"parameters": []}]
)
def test_a_note_of_another_form_counts_as_damaged(tmp_path, note):
    put(Store(tmp_path))
    rewrite(tmp_path / "artifacts" / "model-k" / "meta.json", {"note": note})
    with pytest.warns(UserWarning, match="its note .* has an unknown form"):
        assert Store(tmp_path).get("model", "k") is None


def test_shards_left_by_a_process_killed_while_it_cleared_them_are_swept(tmp_path):
    put(Store(tmp_path))
    (left := tmp_path / "partial" / f"model-k-{'0' * 32}").mkdir()
    Store(tmp_path).sweep(lambda: {("model", "k")})
    assert not left.exists()


def test_an_array_that_was_cut_since_it_was_verified_is_not_mapped(tmp_path):
    artifact = put(Store(tmp_path))
    os.truncate(artifact.folder / "numbers.npy", 130)
    with pytest.raises(DNTKError, match="was cut while it was in use"):
        _ = artifact["numbers"]


def test_an_artifact_that_is_gone_as_soon_as_it_was_published_is_one_sentence_never_none(tmp_path, monkeypatch):
    real = Store._publish

    def swept(self, stage, key, *rest):
        found = real(self, stage, key, *rest)
        self._remove(self.artifact_folder(stage, key))
        return found

    monkeypatch.setattr(Store, "_publish", swept)
    with pytest.raises(Vanished, match="was deleted or damaged while it was in use; start again"):
        put(Store(tmp_path))
