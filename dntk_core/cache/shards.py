"""A large array (C, m, k) whose m inputs lie in several files, (C, n_i, k) each: the shards that it was computed in.

They are never joined. Each is verified when it is first read, and open only while it is.
"""

import errno
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import groupby
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from dntk_core.base.errors import Damaged
from dntk_core.cache.disk import reading, writing
from dntk_core.cache.files import Checksums, copy
from dntk_core.cache.rows import Rows, read_into, stored_type, widened

# What file systems say that know no second name for a file.
NO_LINKS = (errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK, errno.EXDEV)


@dataclass(frozen=True)
class Shard:
    """One file (C, n, k), as it was described when it was written."""

    path: Path
    entry: dict
    checksums: Checksums

    @property
    def inputs(self) -> int:
        return self.entry["shape"][1]

    @property
    def known(self) -> bool:
        """Whether this process wrote it, or has read and verified it."""
        with reading(self.path.parent):
            return self.checksums.knows(self.path, self.entry)

    @contextmanager
    def opened(self) -> Iterator[int]:
        """Open the file, verified, to read it: its descriptor."""
        with reading(self.path.parent):
            verified(self.checksums, self.path, self.entry)
            handle = os.open(self.path, os.O_RDONLY)
            try:
                yield handle
            finally:
                os.close(handle)


@dataclass(frozen=True, eq=False)
class Shards(Rows):
    """Numbers (C, m, k) in shards, or those of some classes and some inputs that follow each other.

    starts: (s + 1,)  the first input of every shard, and m
    first:  the class and the input that a part begins with
    """

    shards: tuple[Shard, ...]
    starts: np.ndarray
    dtype: np.dtype
    shape: tuple[int, ...]
    first: tuple[int, int] = (0, 0)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        n, k = (self.shape if self.ndim > 1 else (1, *self.shape))[-2:]
        found = self._read(prod(self.shape[:-2]), np.arange(self.first[1], self.first[1] + n), k)
        found = found.reshape(self.shape)
        return found if dtype is None else found.astype(dtype, copy=False)

    def _part(self, first: int, shape: tuple[int, ...]) -> "Shards":
        c, i = self.first
        return replace(self, shape=shape, first=(c + first, i) if self.ndim == 3 else (c, i + first))

    def _gathered(self, places: np.ndarray) -> np.ndarray:
        if self.ndim == 3:
            return np.stack([np.asarray(self[int(c)]) for c in places])
        return self._read(1, self.first[1] + places, self.shape[1])[0]

    def _read(self, classes: int, places: np.ndarray, k: int) -> np.ndarray:
        """Read some inputs (n,) of as many classes: (classes, n, k). What lies together is read at once."""
        kept = np.dtype(self.shards[0].entry["dtype"])
        found = np.empty((classes, len(places), k), kept)
        at = np.searchsorted(self.starts, places, side="right") - 1
        ends = np.flatnonzero((np.diff(places) != 1) | (np.diff(at) != 0)) + 1
        runs = zip([0, *ends], [*ends, len(places)], strict=True) if len(places) else ()
        for shard, pieces in groupby(runs, key=lambda run: int(at[run[0]])):
            own, n = self.shards[shard], self.shards[shard].inputs
            header = own.entry["bytes"] - prod(own.entry["shape"]) * kept.itemsize
            with own.opened() as handle:
                for start, stop in pieces:
                    row = int(places[start] - self.starts[shard])
                    for c in range(classes):
                        byte = header + ((self.first[0] + c) * n + row) * k * kept.itemsize
                        read_into(found[c, start:stop], handle, byte, own.path)
        return widened(found)


def shards_of(shards: Sequence[Shard]) -> Shards:
    """Put shards (C, n_i, k) beside each other; Damaged unless they fit."""
    shapes = [shard.entry.get("shape", []) for shard in shards]
    kept = {shard.entry.get("dtype") for shard in shards}
    if any(len(shape) != 3 or min(shape) < 1 for shape in shapes) or len({(C, k) for C, _, k in shapes}) != 1:
        raise Damaged("its shards do not fit together")
    if len(kept) != 1 or (dtype := stored_type(str(*kept))) is None:
        raise Damaged("its shards are not of one type of numbers")
    width = np.dtype(str(*kept)).itemsize
    if any(prod(shard.entry["shape"]) * width >= shard.entry["bytes"] for shard in shards):
        raise Damaged("its shards are shorter than they say")
    starts = np.concatenate([[0], np.cumsum([shard.inputs for shard in shards])])
    return Shards(tuple(shards), starts, dtype, (shapes[0][0], int(starts[-1]), shapes[0][2]))


def shard_name(name: str, start: int) -> str:
    """What the file of the inputs from `start` on is called in an artifact."""
    return f"{name}.{start}.npy"


_NAME = re.compile(r"(?P<name>.+)\.(?P<start>[0-9]+)\.npy")


def sharded(files: Iterable[str]) -> Mapping[str, list[str]]:
    """Which of an artifact's files are shards, by the name of the array, in order."""
    found: dict[str, dict[int, str]] = {}
    for file in files:
        if match := _NAME.fullmatch(file):
            found.setdefault(match["name"], {})[int(match["start"])] = file
    return {name: [parts[start] for start in sorted(parts)] for name, parts in found.items()}


def verified(checksums: Checksums, path: Path, entry: dict) -> None:
    """Verify a file that was there when its artifact was opened."""
    try:
        checksums.verify(path, entry)
    except Damaged:
        raise Damaged(f"{path.name} of {path.parent} is damaged, or was cut while it was in use; start again") from None


def link_shards(folder: Path, name: str, shards: Shards) -> tuple[dict[str, dict], list[str]]:
    """Give shards a place in a folder, with the checksums they have; their files, and those this process knows."""
    files, known = {}, []
    for start, shard in zip(shards.starts, shards.shards, strict=False):
        file = shard_name(name, int(start))
        files[file] = shard.entry
        known += [file] if shard.known else []
        with writing(folder):
            try:
                os.link(shard.path, folder / file)
            except OSError as error:
                if error.errno not in NO_LINKS:
                    raise
                copy(shard.path, folder / file)
    return files, known
