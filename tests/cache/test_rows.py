"""Arrays read where they are indexed: the same numbers as in memory, one sentence where the file was cut."""

import os

import numpy as np
import pytest

from dntk_core.base.errors import Damaged, Unreadable
from dntk_core.cache.files import write
from dntk_core.cache.rows import Rows, open_rows

FEATURES = np.arange(2 * 5 * 3, dtype=np.float32).reshape(2, 5, 3)
IMAGES = np.arange(4 * 1 * 2 * 3, dtype=np.uint8).reshape(4, 1, 2, 3)
SOME = np.array([4, 0, 1, 2, 2])


def opened(folder, array) -> Rows:
    write(folder, "x", array)
    return open_rows(folder / "x.npy")


@pytest.mark.parametrize(
    ("array", "index"),
    [
        (FEATURES, 1),
        (FEATURES, np.int64(-1)),
        (FEATURES, slice(1, 2)),
        (FEATURES, slice(2, 2)),
        (FEATURES, (slice(None), SOME)),
        (FEATURES, (slice(None), slice(1, 4))),
        (FEATURES, (..., np.array([2, 0]))),
        (FEATURES, (1, 3)),
        (FEATURES, (1, SOME)),
        (FEATURES, (0, SOME, 2)),
        (FEATURES, (SOME[1:3], SOME[:2])),
        (FEATURES[0], SOME),
        (FEATURES[0], slice(1, 4)),
        (FEATURES[0], 2),
        (FEATURES[0], np.array([], int)),
        (IMAGES, SOME[1:]),
        (IMAGES, 3),
        (IMAGES, slice(None, None, 2)),
        (np.array(["a", "bc"]), slice(None)),
    ],
)
def test_an_index_gives_what_it_gives_of_an_array(tmp_path, array, index):
    found = np.asarray(opened(tmp_path, array)[index])
    assert found.dtype == array.dtype and np.array_equal(found, array[index]) and found.shape == array[index].shape


def test_features_are_not_read_class_by_class(tmp_path):
    rows = opened(tmp_path, FEATURES)
    assert isinstance(rows[0], Rows) and isinstance(rows[:1], Rows) and isinstance(rows[0][:2], np.ndarray)
    assert [part.shape for part in rows] == [(5, 3)] * 2 and np.array_equal(np.asarray(rows, np.float64), FEATURES)


def test_a_file_that_is_cut_or_replaced_under_a_reader_is_one_sentence(tmp_path):
    rows = opened(tmp_path, FEATURES)
    # Another file of the same name is not this one.
    write(tmp_path, "x", FEATURES + 1)
    assert np.array_equal(rows[0][:], FEATURES[0])
    rows = open_rows(tmp_path / "x.npy")
    os.truncate(tmp_path / "x.npy", (tmp_path / "x.npy").stat().st_size - 8)
    assert np.array_equal(rows[0][:], FEATURES[0] + 1)
    # A memory map would end this process here.
    with pytest.raises(Damaged, match="was cut while it was in use; start again"):
        np.asarray(rows)


def test_what_is_no_array_is_damaged_and_what_cannot_be_read_is_not(tmp_path, monkeypatch):
    for content in (b"", b"\x93NUMPY\x02\x00", b"\x93NUMPY\x01\x00\x10\x00{'descr': 'O'}  "):
        (tmp_path / "y.npy").write_bytes(content)
        with pytest.raises(Damaged):
            open_rows(tmp_path / "y.npy")
    rows = opened(tmp_path, FEATURES)

    def fail(*arguments):
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(os, "preadv", fail)
    with pytest.raises(Unreadable, match="cannot be read now"):
        rows[0][:]
