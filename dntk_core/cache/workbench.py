"""Shards of a stage under way, built by one process or by several side by side."""

import json
import os
import shutil
import uuid
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np

from dntk_core.base.errors import DNTKError, Vanished
from dntk_core.cache.files import described, locked, read_array, read_json, sha256, write, writing


class Workbench:
    """Shards of a stage under way: each written whole or not at all, found again after a crash."""

    def __init__(self, folder: Path):
        self.folder = folder

    def shard(self, name: str, build: Callable[[], dict[str, np.ndarray]]) -> dict[str, np.ndarray]:
        """Return the shard's arrays, memory-mapped; build and write it if it is not there or damaged."""
        if (arrays := self.find(name)) is not None:
            return arrays
        self.open()
        for leftover in self.folder.glob(f".{name}.*"):
            leftover.unlink(missing_ok=True)
        files = dict(write(self.folder, f"{name}.{part}", array) for part, array in build().items())
        # The description goes last: a shard without it does not exist.
        write(self.folder, f"{name}.json", json.dumps(files).encode())
        if (arrays := self.find(name)) is None:
            raise Vanished(f"shard {name} was changed or deleted as soon as it was written; start the command again")
        return arrays

    def drop(self, name: str) -> None:
        """Remove one shard, if it is there; its description first, so that what is left is no shard."""
        for path in [self.folder / f"{name}.json", *self.folder.glob(f"{name}.*.npy")]:
            path.unlink(missing_ok=True)

    def share(self, names: Sequence[str], build: Callable[[str], dict[str, np.ndarray]]) -> Iterator[str]:
        """Build every missing shard, side by side with all processes that do the same; yield each one written here.

        What another process is at is passed over, and waited for at the end: if it was killed, its lock is free.
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
                    # The workbench was cleared: all is done.
                    return
                yield name

    def has(self, name: str) -> bool:
        """Whether the shard was written; `find` also verifies it."""
        return (self.folder / f"{name}.json").exists()

    def open(self) -> None:
        """Make the folder, if it is not there."""
        with writing(self.folder):
            self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)

    def clear(self) -> None:
        """Remove all shards; the folder is renamed first, so that helpers see all or nothing."""
        if self.folder.is_dir():
            doomed = self.folder.with_name(f"{self.folder.name}-{uuid.uuid4().hex}")
            os.rename(self.folder, doomed)
            shutil.rmtree(doomed, ignore_errors=True)

    def find(self, name: str) -> dict[str, np.ndarray] | None:
        """Return the shard's arrays, memory-mapped, or None if it is not there or damaged."""
        try:
            files = described(self.folder, read_json(self.folder / f"{name}.json"))
            if any(sha256(path) != entry["sha256"] for path, entry in files.items()):
                return None
            loaded = {path.name: read_array(path) for path in files}
        except (OSError, DNTKError):
            return None
        return {file.removeprefix(f"{name}.").removesuffix(".npy"): array for file, array in loaded.items()}
