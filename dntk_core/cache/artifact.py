"""A finished artifact: a folder of arrays and raw files, and meta.json, which describes them."""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from dntk_core.base.errors import DNTKError
from dntk_core.cache.files import Content, in_use, read_array, read_json

# What a stage builds: arrays or bytes by name, and a note.
Contents = tuple[Mapping[str, Content], dict[str, Any]]

LAYOUT = 1
_FIELDS = {"layout": int, "stage": str, "key": str, "created": float, "spec": str, "note": dict, "files": dict}


@dataclass(frozen=True)
class Artifact:
    """A finished stage's output: arrays, raw files and a JSON-able note; checksums were verified when it was opened."""

    folder: Path
    meta: dict

    def __getitem__(self, name: str) -> np.ndarray:
        """Memory-map one array."""
        return read_array(self._listed(f"{name}.npy"))

    def read(self, name: str) -> bytes:
        """Read one raw file."""
        with in_use(self.folder):
            return self._listed(name).read_bytes()

    def _listed(self, name: str) -> Path:
        if name not in self.meta["files"]:
            raise DNTKError(f"cached {self.folder.name} has no checksum for {name}; delete it to compute it anew")
        return self.folder / name

    def holds(self, name: str) -> bool:
        """Whether there is an array, a file or a note of this name."""
        return name in self.note or not {name, f"{name}.npy"}.isdisjoint(self.meta["files"])

    @property
    def note(self) -> dict:
        """What the stage wrote beside its arrays."""
        return self.meta["note"]


def make_meta(stage: str, key: str, spec: str, note: dict[str, Any], files: dict[str, dict]) -> dict[str, Any]:
    """What meta.json says; files: by name, as `write` describes them."""
    return {
        "layout": LAYOUT,
        "stage": stage,
        "key": key,
        "created": time.time(),
        "spec": spec,
        "note": note,
        "files": files,
    }


def read_meta(folder: Path) -> dict | None:
    """Read meta.json, None if another version wrote it; DNTKError unless it has the fields that `make_meta` gives."""
    meta = read_json(folder / "meta.json")
    if type(meta.get("layout")) is int and meta["layout"] != LAYOUT:
        return None
    if {name: type(value) for name, value in meta.items()} != _FIELDS:
        raise DNTKError("its description has unknown or missing fields")
    return meta


def try_meta(folder: Path) -> dict | None:
    """Read meta.json, None if that cannot be done."""
    try:
        return read_meta(folder)
    except (OSError, DNTKError):
        return None
