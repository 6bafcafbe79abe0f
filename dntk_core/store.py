"""The artifact cache: atomic, checksummed, locked, pickle-free.

<root>/artifacts/<stage>-<key>/meta.json, *.npy, *.safetensors    finished; published by one rename
<root>/partial/<stage>-<key>/<shard>.npy + .json                  shards of a stage under way
<root>/damaged/…                                                  set aside, never loaded
<root>/locks/<stage>-<key>.lock                                   flock: the kernel frees it when its holder dies
"""

import fcntl
import hashlib
import json
import os
import shutil
import time
import uuid
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from dntk_core.errors import DNTKError

LAYOUT = 1


@dataclass(frozen=True)
class Artifact:
    """A finished stage's output: arrays, raw files and a JSON-able note; checksums were verified when it was opened."""

    folder: Path
    meta: dict

    def __getitem__(self, name: str) -> np.ndarray:
        """Memory-map one array."""
        return np.load(self.folder / f"{name}.npy", mmap_mode="r", allow_pickle=False)

    def read(self, name: str) -> bytes:
        """Read one raw file."""
        return (self.folder / name).read_bytes()

    @property
    def note(self) -> dict:
        """What the stage wrote beside its arrays."""
        return self.meta["note"]


class Store:
    """Artifacts under one folder, by (stage, key)."""

    def __init__(self, root: Path | str | None = None):
        self.root = Path(root or os.environ.get("DNTK_CACHE_DIR") or Path(__file__).resolve().parent.parent / "cache")
        self._verified: dict[tuple, bool] = {}

    def get(self, stage: str, key: str) -> Artifact | None:
        """Open a finished artifact, or None; a damaged one is set aside."""
        folder = self._artifact(stage, key)
        if not folder.is_dir():
            return None
        try:
            meta = _read_json(folder / "meta.json")
            if meta.get("layout") != LAYOUT or meta.get("stage") != stage or meta.get("key") != key:
                raise DNTKError("its description does not fit")
            for name, entry in meta["files"].items():
                self._verify(folder / name, entry)
        except (OSError, KeyError, TypeError, AttributeError, DNTKError) as error:
            self._set_aside(folder, error)
            return None
        return Artifact(folder, meta)

    def load_or_build(
        self, stage: str, key: str, spec: str, build: Callable[["Workbench"], tuple[dict, dict]]
    ) -> Artifact:
        """Return the artifact; build it first if it is not there, once for all processes that ask.

        spec: JSON kept beside the arrays; build: given a workbench for shards, returns ({name: array or bytes}, note)
        """
        if (artifact := self.get(stage, key)) is not None:
            return artifact
        self._make_folders()
        with self._lock(stage, key):
            if (artifact := self.get(stage, key)) is not None:
                return artifact
            bench = Workbench(self.root / "partial" / f"{stage}-{key}")
            contents, note = build(bench)
            self._publish(stage, key, spec, contents, note)
            bench.clear()
        return self.get(stage, key)

    def artifacts(self, stage: str) -> list[dict]:
        """Descriptions of all finished artifacts of a stage, unverified."""
        metas = map(_try_json, (self.root / "artifacts").glob(f"{stage}-*"))
        return [meta for meta in metas if meta is not None]

    def size(self, stage: str, key: str) -> int:
        """Bytes of an artifact, 0 if there is none."""
        folder = self._artifact(stage, key)
        return sum(path.stat().st_size for path in folder.iterdir()) if folder.is_dir() else 0

    def delete(self, stage: str, key: str) -> None:
        """Remove an artifact and what was left of its making."""
        for folder in (self._artifact(stage, key), self.root / "partial" / f"{stage}-{key}"):
            if folder.is_dir():
                # Renamed first, so that no reader meets half an artifact.
                doomed = self._scratch(folder.name)
                os.rename(folder, doomed)
                shutil.rmtree(doomed)

    def sweep(self, keep: Callable[[str, str], bool]) -> int:
        """Delete scratch, damaged and unlocked partial folders, and artifacts that `keep(stage, key)` denies.

        Returns the bytes freed.
        """
        before = self.bytes()
        for kind in ("scratch", "damaged"):
            shutil.rmtree(self.root / kind, ignore_errors=True)
        for folder in [*(self.root / "partial").glob("*-*"), *(self.root / "artifacts").glob("*-*")]:
            stage, _, key = folder.name.rpartition("-")
            if not keep(stage, key):
                with self._lock(stage, key, wait=False) as free:
                    if free:
                        self.delete(stage, key)
        return before - self.bytes()

    def bytes(self) -> int:
        """Size of all files under the root."""
        return sum(path.stat().st_size for path in self.root.rglob("*") if path.is_file())

    def _artifact(self, stage: str, key: str) -> Path:
        return self.root / "artifacts" / f"{stage}-{key}"

    def _scratch(self, name: str) -> Path:
        (self.root / "scratch").mkdir(exist_ok=True)
        return self.root / "scratch" / f"{name}-{uuid.uuid4().hex}"

    def _make_folders(self) -> None:
        try:
            self.root.mkdir(parents=True, exist_ok=True, mode=0o700)
            for name in ("artifacts", "partial", "locks", "scratch"):
                (self.root / name).mkdir(exist_ok=True, mode=0o700)
        except OSError as error:
            raise DNTKError(
                f"the cache folder {self.root} cannot be written ({error.strerror}); "
                "make it writable or set DNTK_CACHE_DIR to another folder"
            ) from error

    @contextmanager
    def _lock(self, stage: str, key: str, wait: bool = True) -> Iterator[bool]:
        with open(self.root / "locks" / f"{stage}-{key}.lock", "w") as handle:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
            except BlockingIOError:
                yield False
                return
            yield True

    def _publish(self, stage: str, key: str, spec: str, contents: dict, note: dict) -> None:
        scratch = self._scratch(f"{stage}-{key}")
        scratch.mkdir(mode=0o700)
        files = dict(write(scratch, name, content) for name, content in contents.items())
        meta = {
            "layout": LAYOUT,
            "stage": stage,
            "key": key,
            "created": time.time(),
            "spec": spec,
            "note": note,
            "files": files,
        }
        write(scratch, "meta.json", json.dumps(meta, indent=1).encode())
        os.rename(scratch, self._artifact(stage, key))
        _sync(self._artifact(stage, key).parent)

    def _verify(self, path: Path, entry: dict) -> None:
        stat = path.stat()
        mark = (str(path), stat.st_ino, stat.st_mtime_ns, stat.st_size, entry["sha256"])
        if mark not in self._verified:
            if stat.st_size != entry["bytes"] or _sha256(path) != entry["sha256"]:
                raise DNTKError(f"{path.name} does not match its checksum")
            self._verified[mark] = True

    def _set_aside(self, folder: Path, error: Exception) -> None:
        (self.root / "damaged").mkdir(exist_ok=True, mode=0o700)
        aside = self.root / "damaged" / f"{folder.name}-{uuid.uuid4().hex}"
        os.rename(folder, aside)
        warnings.warn(f"cached {folder.name} is damaged ({error}); set aside as {aside}, computed anew", stacklevel=4)


class Workbench:
    """Shards of a stage under way: each written whole or not at all, found again after a crash."""

    def __init__(self, folder: Path):
        self.folder = folder

    def shard(self, name: str, build: Callable[[], dict[str, np.ndarray]]) -> dict[str, np.ndarray]:
        """Return the shard's arrays, memory-mapped; build and write it if it is not there or damaged."""
        if (arrays := self.find(name)) is not None:
            return arrays
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        files = dict(write(self.folder, f"{name}.{part}", array) for part, array in build().items())
        # The description goes last: a shard without it does not exist.
        write(self.folder, f"{name}.json", json.dumps(files).encode())
        return self.find(name)

    def drop(self, name: str) -> None:
        """Remove one shard, if it is there; its description first, so that what is left is no shard."""
        for path in [self.folder / f"{name}.json", *self.folder.glob(f"{name}.*.npy")]:
            path.unlink(missing_ok=True)

    def clear(self) -> None:
        """Remove all shards."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def find(self, name: str) -> dict[str, np.ndarray] | None:
        """Return the shard's arrays, memory-mapped, or None if it is not there or damaged."""
        try:
            files = _read_json(self.folder / f"{name}.json")
            if any(_sha256(self.folder / file) != entry["sha256"] for file, entry in files.items()):
                return None
            loaded = {file: np.load(self.folder / file, mmap_mode="r", allow_pickle=False) for file in files}
        except (OSError, ValueError, KeyError, TypeError):
            return None
        return {file.removeprefix(f"{name}.").removesuffix(".npy"): array for file, array in loaded.items()}


def write(folder: Path, name: str, content: np.ndarray | bytes) -> tuple[str, dict]:
    """Write one file (temporary file, fsync, rename): an array as <name>.npy, bytes as <name>.

    Returns the file's name and its size, sha256 and, for an array, shape and type.
    """
    entry = {}
    if isinstance(content, np.ndarray):
        if content.dtype.hasobject:
            raise DNTKError(f"{name} holds Python objects; only numbers and text are stored")
        name = f"{name}.npy"
        entry = {"shape": list(content.shape), "dtype": str(content.dtype)}
    temporary = folder / f".{name}.{uuid.uuid4().hex}"
    with open(temporary, "wb") as file:
        if isinstance(content, np.ndarray):
            np.lib.format.write_array(file, content, allow_pickle=False)
        else:
            file.write(content)
        file.flush()
        os.fsync(file.fileno())
    entry |= {"bytes": temporary.stat().st_size, "sha256": _sha256(temporary)}
    os.replace(temporary, folder / name)
    _sync(folder)
    return name, entry


def _sync(folder: Path) -> None:
    """Make renames in a folder durable."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _sha256(path: Path) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _read_json(path: Path) -> dict:
    try:
        value = json.loads(path.read_bytes())
    except ValueError as error:
        raise DNTKError(f"{path.name} is not JSON") from error
    if not isinstance(value, dict):
        raise DNTKError(f"{path.name} is not a JSON object")
    return value


def _try_json(folder: Path) -> dict | None:
    try:
        return _read_json(folder / "meta.json")
    except (OSError, DNTKError):
        return None
