"""Single files: written completely or not at all, verified by checksum."""

import errno
import hashlib

import numpy as np
import pytest
from artifacts import put

from dntk_core.base.errors import DNTKError
from dntk_core.cache import files
from dntk_core.cache.files import Checksums, map_array, read_json, sha256, write
from dntk_core.cache.store import Store


def test_python_objects_are_not_stored(tmp_path):
    with pytest.raises(DNTKError, match="Python objects"):
        put(Store(tmp_path), build=lambda bench: ({"x": np.array([{}])}, {}))


def test_what_is_described_is_what_is_in_the_file(tmp_path):
    name, entry = write(tmp_path, "numbers", np.arange(6, dtype=np.int16).reshape(2, 3))
    content = (tmp_path / name).read_bytes()
    digest = hashlib.sha256(content).hexdigest()
    assert entry == {"shape": [2, 3], "dtype": "int16", "bytes": len(content), "sha256": digest}
    assert sha256(tmp_path / name) == digest
    assert [path.name for path in tmp_path.iterdir()] == ["numbers.npy"]


@pytest.mark.parametrize(
    "array",
    [
        np.arange(24.0).reshape(2, 3, 4)[:, ::2],
        np.array(3.5),
        np.empty((0, 4)),
        np.array(["a", "äö"]),
        np.array([True]),
    ],
    ids=["strided", "scalar", "empty", "text", "bool"],
)
def test_arrays_come_back_as_numpy_writes_them(tmp_path, array):
    name, _ = write(tmp_path, "x", array)
    np.save(tmp_path / "theirs.npy", np.ascontiguousarray(array).reshape(array.shape))
    assert (tmp_path / name).read_bytes() == (tmp_path / "theirs.npy").read_bytes()
    if array.size:
        assert np.array_equal(map_array(tmp_path / name), array)


def test_a_failed_write_leaves_nothing(tmp_path, monkeypatch):
    def full(*args):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(DNTKError, match="free some space"):
        write(tmp_path, "x", np.zeros(3))
    assert not list(tmp_path.iterdir())


def test_a_file_is_read_once_to_verify_it_and_again_when_it_changed(tmp_path, monkeypatch):
    (tmp_path / "scratch").mkdir()
    name, entry = write(tmp_path / "scratch", "x", b"abc")
    checksums, hashed = Checksums(), []
    monkeypatch.setattr(files, "sha256", lambda path: hashed.append(path) or sha256(path))
    for _ in range(3):
        checksums.verify(tmp_path / "scratch" / name, entry)
    moved = (tmp_path / "scratch").rename(tmp_path / "published") / name
    checksums.verify(moved, entry)
    assert len(hashed) == 1
    moved.write_bytes(b"abcd")
    with pytest.raises(DNTKError, match="does not match its checksum"):
        checksums.verify(moved, entry)
    with pytest.raises(DNTKError, match="does not match its checksum"):
        checksums.verify(moved, entry | {"sha256": "0" * 64})


@pytest.mark.parametrize("content", [b"{", b"[]", b"\xff", b"[" * 10**5])
def test_only_json_objects_are_read(tmp_path, content):
    (tmp_path / "x.json").write_bytes(content)
    with pytest.raises(DNTKError, match=r"x\.json is not"):
        read_json(tmp_path / "x.json")


def test_a_large_file_is_read_in_the_background_and_the_next_to_open_it_is_told(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "AT_ONCE", 10)
    name, entry = write(tmp_path, "large", np.arange(100))
    content = bytearray((tmp_path / name).read_bytes())
    good, bad = Checksums(), Checksums()
    for _ in range(2):
        good.verify(tmp_path / name, entry)
        good.settle()
    content[-1] ^= 1
    (tmp_path / name).write_bytes(content)
    bad.verify(tmp_path / name, entry)
    bad.settle()
    with pytest.raises(DNTKError, match="checksum"):
        bad.verify(tmp_path / name, entry)
    (tmp_path / name).write_bytes(content[:-1])
    with pytest.raises(DNTKError, match="checksum"):
        Checksums().verify(tmp_path / name, entry)


def test_a_large_file_that_could_not_be_read_in_the_background_is_read_again(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "AT_ONCE", 10)
    name, entry = write(tmp_path, "large", np.arange(100))
    known, real, read = Checksums(), files.sha256, []

    def once(path):
        read.append(path)
        if len(read) == 1:
            raise OSError(errno.EIO, "Input/output error")
        return real(path)

    monkeypatch.setattr(files, "sha256", once)
    for _ in range(3):
        known.verify(tmp_path / name, entry)
        known.settle()
    assert len(read) == 2
