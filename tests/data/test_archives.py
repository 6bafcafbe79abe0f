"""Archives that others made: bounded, no pickle, nothing written elsewhere."""

import io
import pickle
import tracemalloc
import zipfile

import numpy as np
import pytest
from pictures import refused, write_npz

from dntk_core.base.errors import DNTKError
from dntk_core.base.spec import DataSpec
from dntk_core.data.archives import check_zip, read_npz, unpack
from tests import hostile


def test_a_zip_bomb_is_refused_before_it_is_unpacked(tmp_path):
    path = tmp_path / "a.npz"
    np.savez_compressed(path, train_images=np.zeros((100, 1, 1024, 1024), np.uint8))
    assert path.stat().st_size < 2**20
    tracemalloc.start()
    assert "more than 200 times its size" in refused(DataSpec("npz", str(path)))
    assert tracemalloc.get_traced_memory()[1] < 2**22
    tracemalloc.stop()


def test_an_archive_of_many_arrays_is_refused(tmp_path):
    np.savez(tmp_path / "a.npz", **{f"a{i}": np.zeros(1) for i in range(101)})
    assert "101 files" in refused(DataSpec("npz", str(tmp_path / "a.npz")))


def test_a_planted_pickle_in_npz_does_not_run(tmp_path):
    planted = hostile.Planted(tmp_path / "executed")
    np.savez(tmp_path / "array.npz", train_images=np.array([planted]))
    (tmp_path / "whole.npz").write_bytes(pickle.dumps(planted))
    for name in ("array.npz", "whole.npz"):
        assert "cannot be read as .npz" in refused(DataSpec("npz", str(tmp_path / name)))
    assert not (tmp_path / "executed").exists()


def zipped(path, **members):
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return path


def test_only_files_with_the_endings_asked_for_are_unpacked(tmp_path):
    path = zipped(tmp_path / "a.zip", **{"train/red/0.png": b"0", "train/notes.txt": b"1"})
    unpack(path, tmp_path / "out", {".png"}, 2**20)
    found = [file.relative_to(tmp_path / "out") for file in (tmp_path / "out").rglob("*") if file.is_file()]
    assert [str(file) for file in found] == ["train/red/0.png"]


@pytest.mark.parametrize("name", ["../x.png", "/x.png", "a/../../x.png", "a\\x.png", "/".join("a" * 9) + "/x.png"])
def test_nothing_is_written_elsewhere(tmp_path, name):
    path = zipped(tmp_path / "a.zip", **{name: b"0"})
    with pytest.raises(DNTKError, match=r"outside its folder|lies in more than"):
        unpack(path, tmp_path / "out", {".png"}, 2**20)
    assert not list(tmp_path.rglob("x.png"))


def test_size_is_bounded_and_other_files_are_no_matter(tmp_path):
    path = zipped(tmp_path / "a.zip", x=bytes(100))
    check_zip(path, 100)
    with pytest.raises(DNTKError, match="would unpack to"):
        check_zip(path, 99)
    (tmp_path / "plain").write_bytes(b"no archive")
    check_zip(tmp_path / "plain", 1)


def test_arrays_come_back(tmp_path):
    arrays = {"numbers": np.arange(3), "names": np.array(["a", "b"])}
    np.savez(tmp_path / "a.npz", **arrays)
    found = read_npz(tmp_path / "a.npz")
    assert set(found) == set(arrays) and all(np.array_equal(found[name], arrays[name]) for name in arrays)


@pytest.mark.parametrize("dtype", ["<U0", "|V0", "|S0"])
def test_arrays_of_no_bytes_are_refused_whatever_number_they_claim(tmp_path, dtype):
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, {"descr": dtype, "fortran_order": False, "shape": (10**9,)})
    with zipfile.ZipFile(tmp_path / "a.npz", "w") as archive:
        archive.writestr("class_names.npy", header.getvalue())
    with pytest.raises(DNTKError, match="no plain array of the size it claims"):
        read_npz(tmp_path / "a.npz")


def test_there_are_at_most_as_many_classes_as_images(tmp_path):
    labels = np.zeros(10**6, np.uint8)
    labels[0] = 200
    tracemalloc.start()
    assert "must be 8 integers" in refused(write_npz(tmp_path / "a.npz", train_labels=labels))
    assert "each of a class" in refused(write_npz(tmp_path / "a.npz", class_names=np.arange(8)))
    assert tracemalloc.get_traced_memory()[1] < 2**23
    tracemalloc.stop()
