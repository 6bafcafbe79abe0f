"""Shards and checkpoints of a stage under way, written by one process or by several side by side."""

import json
import os
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from dntk_core.base.errors import Damaged, Vanished
from dntk_core.cache.disk import is_folder, is_there, reading, writing
from dntk_core.cache.files import AT_ONCE, Checksums, described, map_array, read_json, write
from dntk_core.cache.folder import erase
from dntk_core.cache.locks import PAUSE, locked
from dntk_core.cache.sealed import SEAL, check_seal, sealed
from dntk_core.cache.shards import Shard

Arrays = dict[str, np.ndarray]


class Workbench:
    """Shards of a stage under way: each written completely or not at all, found again after a crash."""

    def __init__(self, folder: Path, checksums: Checksums | None = None):
        self.folder = folder
        self._checksums = checksums or Checksums()

    def shard(self, name: str, build: Callable[[], Arrays]) -> Arrays:
        """Return the shard's arrays, memory-mapped; build and write it if it is not there or damaged."""
        if (arrays := self.find(name)) is not None:
            return arrays
        self.open()
        with writing(self.folder):
            for leftover in self.folder.glob(f".{name}.*"):
                leftover.unlink(missing_ok=True)
        files = dict(write(self.folder, f"{name}.{part}", array) for part, array in build().items())
        # The description goes last: a shard without it does not exist.
        write(self.folder, f"{name}.json", json.dumps(sealed(files)).encode())
        with reading(self.folder):
            for file, entry in files.items():
                self._checksums.note(self.folder / file, entry)
        return {_part(name, file): map_array(self.folder / file) for file in files}

    def collect(self, names: Sequence[str], build: Callable[[str], Arrays]) -> list[dict[str, Shard]]:
        """Every shard's files, as they were described when they were written; what is not there or damaged is built.

        Few bytes are verified now, many when they are first read.
        """
        found = {name: self._files(name) for name in names}
        few = sum(shard.entry["bytes"] for files in found.values() for shard in files.values()) <= AT_ONCE
        for name in names:
            if not found[name] or (few and self.find(name) is None):
                self.shard(name, lambda name=name: build(name))
                found[name] = self._files(name)
        return list(found.values())

    def _files(self, name: str) -> dict[str, Shard]:
        """The files of a shard by the names of its arrays; none if it is not there, or one of them was cut."""
        try:
            with reading(self.folder):
                files = self._described(name)
                if any(path.stat().st_size != entry["bytes"] for path, entry in files.items()):
                    return {}
        except (Damaged, Vanished):
            return {}
        return {_part(name, path.name): Shard(path, entry, self._checksums) for path, entry in files.items()}

    def _described(self, name: str) -> dict[Path, dict]:
        """What was said of a shard's files when it was written: shapes are believed, so a flipped bit must be seen."""
        document = read_json(self.folder / f"{name}.json")
        check_seal(document)
        return described(self.folder, {file: entry for file, entry in document.items() if file != SEAL})

    def drop(self, name: str) -> None:
        """Remove one shard, if it is there; its description first, so that no half of it is ever found."""
        with writing(self.folder):
            for path in [self.folder / f"{name}.json", *self.folder.glob(f"{name}.*.npy")]:
                path.unlink(missing_ok=True)

    def share(self, names: Sequence[str], build: Callable[[str], Arrays]) -> Iterator[str]:
        """Build every missing shard, side by side with all processes that do the same; yield each one written here.

        A shard that another process is building is skipped, and waited for at the end: if that process was killed,
        its lock is free.
        """
        for wait in (False, True):
            for name in names:
                if self.has(name):
                    continue
                try:
                    with locked(self.folder / f"{name}.lock", wait) as mine:
                        if not mine or self.has(name):
                            continue
                        self.shard(name, lambda name=name: build(name))
                except Vanished:
                    # The workbench was cleared, because the stage is finished.
                    return
                yield name

    def share_statically(
        self, names: Sequence[str], build: Callable[[str], Arrays], rank: int, ranks: int
    ) -> Iterator[str]:
        """Build every `ranks`-th missing shard, without locks; yield each one written here. The first waits for all."""
        for name in names[rank::ranks]:
            try:
                if not self.has(name):
                    self.shard(name, lambda name=name: build(name))
            except Vanished:
                return
            yield name
        while rank == 0 and not all(map(self.has, names)):
            time.sleep(PAUSE)

    def has(self, name: str) -> bool:
        """Whether the shard was written; `find` also verifies it."""
        with reading(self.folder):
            return is_there(self.folder / f"{name}.json")

    def open(self) -> None:
        """Make the folder, if it is not there."""
        with writing(self.folder):
            self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)

    def clear(self) -> None:
        """Remove all shards; the folder is renamed first, so that other processes see all or nothing."""
        with writing(self.folder.parent):
            if is_folder(self.folder):
                doomed = self.folder.with_name(f"{self.folder.name}-{uuid.uuid4().hex}")
                os.rename(self.folder, doomed)
                erase(doomed)

    def find(self, name: str) -> dict[str, np.ndarray] | None:
        """Return the shard's arrays, memory-mapped, or None if it is not there or damaged."""
        try:
            with reading(self.folder):
                files = self._described(name)
                for path, entry in files.items():
                    self._checksums.verify(path, entry)
                return {_part(name, path.name): map_array(path) for path in files}
        except (Damaged, Vanished):
            return None


@dataclass(frozen=True)
class Checkpoints:
    """The state of a loop under way, kept as the shard <name>-<step>; of several steps only the newest stays."""

    bench: Workbench
    name: str

    def newest(self) -> tuple[int, Arrays] | None:
        """The last step that was kept and its arrays, or None; a damaged checkpoint is skipped."""
        for step in sorted(self._steps(), reverse=True):
            if (arrays := self.bench.find(f"{self.name}-{step}")) is not None:
                return step, arrays
        return None

    def keep(self, step: int, arrays: Arrays) -> None:
        """Write the state after a step, then drop the earlier ones."""
        self.bench.shard(f"{self.name}-{step}", lambda: arrays)
        for earlier in self._steps():
            if earlier < step:
                self.bench.drop(f"{self.name}-{earlier}")

    def _steps(self) -> list[int]:
        with reading(self.bench.folder):
            names = [path.stem for path in self.bench.folder.glob(f"{self.name}-*.json")]
        numbers = [name.removeprefix(f"{self.name}-") for name in names]
        return [int(number) for number in numbers if number.isdecimal()]


def _part(shard: str, file: str) -> str:
    """The array's name in a shard's file name."""
    return file.removeprefix(f"{shard}.").removesuffix(".npy")
