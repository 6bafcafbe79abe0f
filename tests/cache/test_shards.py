"""Arrays that stay in their shards: read as one, verified when read, published without being read or written again."""

import errno
import json
import os
import shutil

import numpy as np
import pytest
from artifacts import put

from dntk_core.base.errors import Damaged, Unreadable
from dntk_core.cache import files
from dntk_core.cache import store as store_module
from dntk_core.cache.artifact import make_meta
from dntk_core.cache.files import write
from dntk_core.cache.rows import Rows
from dntk_core.cache.shards import shards_of
from dntk_core.cache.store import Store

WHOLE = np.random.default_rng(0).standard_normal((3, 11, 4)).astype(np.float32)
SIZES = (4, 4, 3)
SOME = np.array([10, 3, 4, 5, 0, 0])


def build(bench, whole=WHOLE):
    """The array in three shards."""
    parts = dict(zip("abc", np.split(whole, np.cumsum(SIZES)[:-1], axis=1), strict=True))
    found = bench.collect(list(parts), lambda name: {"part": parts[name], "count": np.array(parts[name].shape[1])})
    return {"x": shards_of([shard["part"] for shard in found])}, {}


@pytest.mark.parametrize(
    "index",
    [
        1,
        np.int64(-1),
        slice(1, 3),
        slice(2, 2),
        np.array([2, 0]),
        (slice(None), SOME),
        (slice(None), slice(3, 9)),
        (..., np.array([2, 0])),
        (1, 3),
        (1, SOME),
        (0, SOME, 2),
        (1, np.array([], int)),
        (2, slice(1, 11, 3)),
    ],
)
def test_an_index_gives_what_it_gives_of_one_array(tmp_path, index):
    found = np.asarray(put(Store(tmp_path), build=build).rows("x")[index])
    assert found.dtype == WHOLE.dtype and found.shape == WHOLE[index].shape and np.array_equal(found, WHOLE[index])


def test_parts_of_parts_are_read_where_they_are_indexed(tmp_path):
    rows = put(Store(tmp_path), build=build).rows("x")
    assert rows.shape == WHOLE.shape and isinstance(rows[1], Rows) and isinstance(rows[1:], Rows)
    assert np.array_equal(rows[1:][1][2:9], WHOLE[2, 2:9]) and np.array_equal(rows[2][5], WHOLE[2, 5])
    assert [part.shape for part in rows] == [(11, 4)] * 3 and np.array_equal(np.asarray(rows, float), WHOLE)


def test_publishing_neither_reads_nor_writes_the_shards_again(tmp_path, monkeypatch):
    hashed, places = [], []
    real = files.sha256
    monkeypatch.setattr(files, "sha256", lambda path: hashed.append(path) or real(path))

    def noting(bench):
        found = build(bench)
        places.extend(shard.path.stat().st_ino for shard in found[0]["x"].shards)
        return found

    artifact = put(Store(tmp_path), build=noting)
    assert np.array_equal(artifact["x"], WHOLE) and hashed == []
    shards = [artifact.folder / f"x.{start}.npy" for start in (0, 4, 8)]
    assert [path.stat().st_ino for path in shards] == places and not [*(tmp_path / "partial").iterdir()]
    # Another process verifies each once.
    other = Store(tmp_path)
    assert all(np.array_equal(other.get("model", "k")["x"], WHOLE) for _ in range(2))
    assert sorted(hashed) == sorted(shards)


def test_where_files_have_but_one_name_shards_are_copied(tmp_path, monkeypatch):
    def refuse(*paths):
        raise OSError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "link", refuse)
    put(Store(tmp_path), build=build)
    assert np.array_equal(Store(tmp_path).get("model", "k")["x"], WHOLE)


def test_of_many_bytes_only_sizes_are_looked_at_when_opened_and_each_shard_when_read(tmp_path, monkeypatch):
    folder = put(Store(tmp_path), build=build).folder
    content = bytearray((folder / "x.4.npy").read_bytes())
    content[-1] ^= 1
    (folder / "x.4.npy").write_bytes(content)
    # As if there were too many to read, and no time yet in the background.
    monkeypatch.setattr(files, "AT_ONCE", 700)
    monkeypatch.setattr(files.Checksums, "_later", lambda *_: None)
    store = Store(tmp_path)
    rows = store.get("model", "k").rows("x")
    assert np.array_equal(rows[:, :4], WHOLE[:, :4]) and np.array_equal(rows[0][8:], WHOLE[0, 8:])
    with pytest.raises(Damaged, match="is damaged, or was cut while it was in use; start again"):
        np.asarray(rows)
    with pytest.warns(UserWarning, match="damaged"):
        assert store.get("model", "k") is None


def test_many_bytes_are_verified_in_the_background_too(tmp_path, monkeypatch):
    folder = put(Store(tmp_path), build=build).folder
    monkeypatch.setattr(files, "AT_ONCE", 700)
    content = bytearray((folder / "x.8.npy").read_bytes())
    content[-1] ^= 1
    (folder / "x.8.npy").write_bytes(content)
    store = Store(tmp_path)
    assert store.get("model", "k") is not None
    store._checksums.settle()
    with pytest.warns(UserWarning, match="damaged"):
        assert store.get("model", "k") is None


def test_a_shard_that_cannot_be_read_now_is_one_sentence(tmp_path, monkeypatch):
    rows = put(Store(tmp_path), build=build).rows("x")

    def fail(*arguments):
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(os, "preadv", fail)
    with pytest.raises(Unreadable, match="cannot be read now"):
        rows[0][:2]


def test_shards_that_do_not_fit_are_damaged(tmp_path):
    for other in (WHOLE[:2], WHOLE.astype(np.float64), WHOLE[0], np.array([["a"]])):

        def mixed(bench, other=other):
            found = bench.collect(["a", "b"], lambda name: {"part": WHOLE if name == "a" else other})
            return {"x": shards_of([shard["part"] for shard in found])}, {}

        with pytest.raises(Damaged, match="its shards"):
            put(Store(tmp_path / str(other.shape)), build=mixed)


def listed(**changes):
    """A description of shards of two inputs each, with some of them changed."""
    entry = {"shape": [2, 2, 3], "dtype": "float32", "bytes": 176, "sha256": "0" * 64}
    return {f"x.{start}.npy": entry | changes.get(f"at_{start}", {}) for start in (0, 2, 4)}


@pytest.mark.parametrize(
    "files",
    [
        {name: entry for name, entry in listed().items() if name != "x.2.npy"},
        {name: entry for name, entry in listed().items() if name != "x.0.npy"},
        listed() | {"x.04.npy": listed()["x.4.npy"]},
        listed(at_2={"shape": [2, 1, 3]}),
        listed(at_2={"shape": [2, 2, 4]}),
        listed(at_2={"shape": [3, 2, 2]}),
        listed(at_2={"dtype": "uint16"}),
        listed(at_0={"shape": [2, 2, 3], "bytes": 40}),
    ],
    ids=["one missing", "the first missing", "one twice", "shorter", "wider", "turned", "of halves", "of few bytes"],
)
def test_shards_of_an_artifact_that_are_not_one_whole_are_damaged(tmp_path, monkeypatch, files):
    """Although every checksum fits: nothing but the description says what is where."""
    monkeypatch.setattr(store_module, "described", lambda folder, listed: {})
    folder = tmp_path / "artifacts" / "model-k"
    folder.mkdir(parents=True)
    for entries, says in ((listed(), None), (files, "its shards")):
        write(folder, "meta.json", json.dumps(make_meta("model", "k", "{}", {}, entries)).encode())
        if says is None:
            assert Store(tmp_path).get("model", "k").rows("x").shape == (2, 6, 3)
        else:
            with pytest.warns(UserWarning, match=says):
                assert Store(tmp_path).get("model", "k") is None


def test_shards_that_changed_places_or_came_from_another_run_are_damaged(tmp_path):
    put(Store(tmp_path), key="other", build=lambda bench: build(bench, WHOLE + 1))
    for trick in (
        lambda folder: (folder / "x.0.npy").rename(folder / "y") and (folder / "x.4.npy").rename(folder / "x.0.npy"),
        lambda folder: shutil.copy(folder.with_name("model-other") / "x.4.npy", folder),
        lambda folder: (folder / "x.4.npy").unlink() or (folder / "x.4.npy").hardlink_to(folder / "x.0.npy"),
        lambda folder: (folder / "x.4.npy").rename(tmp_path / "x") and (folder / "x.4.npy").symlink_to(tmp_path / "x"),
        lambda folder: os.truncate(folder / "x.8.npy", 200),
        lambda folder: (folder / "x.8.npy").unlink() or os.mkfifo(folder / "x.8.npy"),
    ):
        trick(put(Store(tmp_path), build=build).folder)
        with pytest.warns(UserWarning, match="damaged"):
            assert Store(tmp_path).get("model", "k") is None


@pytest.mark.parametrize(
    "change", [("3, 4, 4", "3, 2, 4"), ("3, 4, 4", "4, 4, 3"), ("float32", "uint16"), ("4, 4", "4")]
)
def test_a_shard_whose_description_was_changed_is_built_again(tmp_path, change):
    """Its shape says where in the file an input lies: one digit, and other inputs' numbers would be read."""

    def interrupted(bench):
        build(bench)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        put(Store(tmp_path), build=interrupted)
    path = tmp_path / "partial" / "model-k" / "b.json"
    assert change[0] in path.read_text()
    path.write_text(path.read_text().replace(*change))
    assert np.array_equal(put(Store(tmp_path), build=build)["x"], WHOLE)


def test_upper_halves_of_float32_are_read_as_numbers(tmp_path):
    halves = (WHOLE.view(np.uint32) >> 16).astype(np.uint16)
    rows = put(Store(tmp_path), build=lambda bench: build(bench, halves)).rows("x")
    assert rows.dtype == np.float32 and rows[0][:3].dtype == np.float32
    np.testing.assert_allclose(np.asarray(rows), WHOLE, rtol=2**-7)


def test_a_hundred_gigabytes_open_by_their_sizes_alone(tmp_path, monkeypatch):
    """Files that hold nothing but their length, and checksums that nobody has asked for yet."""
    monkeypatch.setattr(files.Checksums, "_later", lambda *_: None)
    monkeypatch.setattr(files, "sha256", lambda path: pytest.fail("read to open it"))
    folder = tmp_path / "artifacts" / "model-k"
    folder.mkdir(parents=True)
    shape, count = [1000, 1250, 2048], 10
    size = 4 * np.prod(shape) + 128
    entry = {"shape": shape, "dtype": "float32", "bytes": int(size), "sha256": "0" * 64}
    listed = {f"x.{1250 * i}.npy": entry for i in range(count)}
    for name in listed:
        with open(folder / name, "wb") as file:
            file.truncate(size)
    write(folder, "meta.json", json.dumps(make_meta("model", "k", "{}", {}, listed)).encode())
    rows = Store(tmp_path).get("model", "k").rows("x")
    assert rows.shape == (1000, 12_500, 2048) and size * count > 100e9
