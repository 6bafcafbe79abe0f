"""Archives that others made: bounded, no pickle, nothing written elsewhere."""

import pickle
import tracemalloc

import numpy as np
from pictures import refused

from dntk_core.base.spec import DataSpec
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
