"""A large array in files of the cache, read when it is indexed.

Not memory-mapped: a page of a map that cannot be read, since the file was cut or its disk has failed, ends the process.
A read that fails is one sentence.
"""

import os
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from dntk_core.base.errors import Damaged
from dntk_core.cache.disk import reading
from dntk_core.cache.files import NO_ARRAY


class Rows(ABC):
    """Numbers in one file or several; an index reads what it names.

    Of features (C, m, k) the first axis is not read: features[c] and features[c:d] are Rows again.
    """

    dtype: np.dtype
    shape: tuple[int, ...]

    @property
    def ndim(self) -> int:
        return len(self.shape)

    def __len__(self) -> int:
        return self.shape[0]

    def __iter__(self) -> Iterator[Any]:
        return (self[i] for i in range(len(self)))

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, tuple):
            return self._across(*((slice(None), *index) if index[0] is Ellipsis else index))
        places = np.arange(len(self))[index]
        if places.ndim == 0:
            part = self._part(int(places), self.shape[1:])
        elif isinstance(index, slice) and index.step in (None, 1):
            part = self._part(int(places[0]) if len(places) else 0, (len(places), *self.shape[1:]))
        else:
            return self._gathered(places)
        return part if self.ndim == 3 else np.asarray(part)

    def _across(self, first: Any, *others: Any) -> np.ndarray:
        """What an index of several axes names: of features one class after the other, never all of them."""
        if isinstance(first, int | np.integer):
            part = self[first]
            return np.asarray(part[others[0]]) if len(others) == 1 else np.asarray(part)[others]
        if isinstance(first, slice) and self.ndim == 3:
            return np.stack([self._across(i, *others) for i in range(*first.indices(len(self)))])
        return np.asarray(self)[first, *others]

    @abstractmethod
    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray: ...

    @abstractmethod
    def _part(self, first: int, shape: tuple[int, ...]) -> "Rows":
        """Some rows that follow each other, unread."""

    @abstractmethod
    def _gathered(self, places: np.ndarray) -> np.ndarray:
        """Some rows; those that follow each other are read at once."""


@dataclass(frozen=True, eq=False)
class FileRows(Rows):
    """Numbers in C order in an open file, from the byte `start` on."""

    path: Path
    file: BinaryIO
    start: int
    dtype: np.dtype
    shape: tuple[int, ...]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        found = np.empty(self.shape, self.dtype)
        self._fill(found, self.start)
        return found if dtype is None else found.astype(dtype, copy=False)

    def _part(self, first: int, shape: tuple[int, ...]) -> "FileRows":
        return FileRows(self.path, self.file, self.start + first * self._stride, self.dtype, shape)

    @property
    def _stride(self) -> int:
        """Bytes of one row."""
        return prod(self.shape[1:]) * self.dtype.itemsize

    def _gathered(self, places: np.ndarray) -> np.ndarray:
        found = np.empty((len(places), *self.shape[1:]), self.dtype)
        first = 0
        for run in np.split(places, np.flatnonzero(np.diff(places) != 1) + 1) if len(places) else ():
            self._fill(found[first : first + len(run)], self.start + int(run[0]) * self._stride)
            first += len(run)
        return found

    def _fill(self, found: np.ndarray, start: int) -> None:
        """Read an array from a byte of the file on."""
        with reading(self.path.parent):
            read_into(found, self.file.fileno(), start, self.path)


def read_into(found: np.ndarray, handle: int, start: int, path: Path) -> None:
    """Read an array from a byte of an open file on; Damaged where that ends too soon."""
    left = found.reshape(-1).view(np.uint8).data
    while len(left):
        count = os.preadv(handle, [left], start)
        if not count:
            raise Damaged(f"{path.name} of {path.parent} was cut while it was in use; start again")
        left, start = left[count:], start + count


# Features are kept as floats, or as the upper halves of float32, which is bfloat16: NumPy has no such type.
HALVES = np.dtype(np.uint16)


def stored_type(name: str) -> np.dtype | None:
    """The type that features kept as `name` have when they are read; None if none are."""
    if name not in ("float16", "float32", "float64", HALVES.name):
        return None
    return np.dtype(np.float32 if name == HALVES.name else name)


def widened(kept: np.ndarray) -> np.ndarray:
    """Features as numbers: upper halves of float32 become float32, all else stays."""
    if kept.dtype != HALVES:
        return kept
    return (kept.astype(np.uint32) << 16).view(np.float32)


def open_rows(path: Path) -> FileRows:
    """Open an .npy file of numbers or text, as `write` makes them; Damaged if it is anything else."""
    with reading(path.parent):
        # Without a buffer: what is read is where it is needed. It is closed when nobody needs it any more.
        file = open(path, "rb", buffering=0)
        try:
            if np.lib.format.read_magic(file) != (1, 0):
                raise ValueError("it has another version")
            shape, fortran, dtype = np.lib.format.read_array_header_1_0(file)
        except OSError:
            raise
        except NO_ARRAY as error:
            raise Damaged(f"{path.name} cannot be read as an array: {str(error)[:200]}") from None
    if fortran or dtype.hasobject:
        raise Damaged(f"{path.name} is not in C order, or holds Python objects")
    return FileRows(path, file, file.tell(), dtype, shape)


# Features (C, m, k) in memory or in files.
Array = np.ndarray | Rows
