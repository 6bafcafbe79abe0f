"""A finished artifact: a folder of arrays and raw files, and meta.json, which describes them."""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from dntk_core.base.errors import Damaged, DNTKError, Vanished
from dntk_core.base.stages import NOTES
from dntk_core.cache.disk import reading
from dntk_core.cache.files import Checksums, read_json
from dntk_core.cache.rows import Rows, open_rows
from dntk_core.cache.sealed import SEAL, check_seal, sealed
from dntk_core.cache.shards import Shard, Shards, shard_name, sharded, shards_of, verified

# What becomes files: an array, the shards of one, or bytes.
Content = np.ndarray | Shards | bytes
# What a stage builds: contents by name, and a note.
Contents = tuple[Mapping[str, Content], dict[str, Any]]

LAYOUT = 1
_FIELDS = {"layout": int, "stage": str, "key": str, "created": float, "spec": str, "note": dict, "files": dict}


@dataclass(frozen=True)
class Artifact:
    """A finished stage's output: arrays, raw files and a JSON-able note; nothing is read that was not verified."""

    folder: Path
    meta: dict
    checksums: Checksums

    def __getitem__(self, name: str) -> np.ndarray:
        """Read one array."""
        array = np.asarray(self.rows(name))
        array.flags.writeable = False
        return array

    def rows(self, name: str) -> Rows:
        """Open one array, a large one, that is read where it is indexed."""
        return self._shards(name) if name in self._sharded else open_rows(self._listed(f"{name}.npy"))

    def check_shards(self) -> None:
        """Raise Damaged unless the shards of every array are those of one whole."""
        for name in self._sharded:
            self._shards(name)

    def _shards(self, name: str) -> Shards:
        files, parts = self.meta["files"], self._sharded[name]
        found = shards_of([Shard(self.folder / file, files[file], self.checksums) for file in parts])
        if parts != [shard_name(name, int(start)) for start in found.starts[:-1]]:
            raise Damaged("its shards do not follow each other")
        return found

    def read(self, name: str) -> bytes:
        """Read one raw file."""
        with reading(self.folder):
            return self._listed(name).read_bytes()

    def _listed(self, name: str) -> Path:
        if name not in self.meta["files"]:
            raise DNTKError(f"cached {self.folder.name} has no checksum for {name}; delete it to compute it anew")
        with reading(self.folder):
            verified(self.checksums, self.folder / name, self.meta["files"][name])
        return self.folder / name

    def holds(self, name: str) -> bool:
        """Whether there is an array, a file or a note of this name."""
        return name in self.note or name in self._sharded or not {name, f"{name}.npy"}.isdisjoint(self.meta["files"])

    @cached_property
    def _sharded(self) -> Mapping[str, list[str]]:
        """The files of every array that lies in shards."""
        return sharded(self.meta["files"])

    @property
    def note(self) -> dict:
        """What the stage wrote beside its arrays."""
        return self.meta["note"]


def make_meta(stage: str, key: str, spec: str, note: dict[str, Any], files: dict[str, dict]) -> dict[str, Any]:
    """What meta.json says; files: by name, as `write` describes them."""
    meta = {
        "layout": LAYOUT,
        "stage": stage,
        "key": key,
        "created": time.time(),
        "spec": spec,
        "note": note,
        "files": files,
    }
    return sealed(meta)


def read_meta(folder: Path) -> dict | None:
    """Read meta.json, None if another version wrote it; Damaged unless it is as `make_meta` gave it."""
    meta = read_json(folder / "meta.json")
    # Before its layout is believed.
    check_seal(meta)
    if type(meta.get("layout")) is int and meta["layout"] != LAYOUT:
        return None
    if {name: type(value) for name, value in meta.items()} not in (_FIELDS, _FIELDS | {SEAL: str}):
        raise Damaged("its description has unknown or missing fields")
    for name, fits in NOTES.items():
        if name in meta["note"] and not fits(meta["note"][name]):
            raise Damaged(f"its note {name!r} has an unknown form")
    return meta


def try_meta(folder: Path) -> dict | None:
    """Read meta.json, None if it is not there, damaged or of another version."""
    try:
        with reading(folder):
            return read_meta(folder)
    except (Damaged, Vanished):
        return None
