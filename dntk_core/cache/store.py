"""The artifact cache: atomic, checksummed, locked, pickle-free.

<root>/artifacts/<stage>-<key>/meta.json, *.npy, *.safetensors    finished; published by one rename
<root>/partial/<stage>-<key>/<shard>.npy + .json                  shards of a stage under way
<root>/damaged/…                                                  set aside, never loaded
<root>/locks/<stage>-<key>.lock                                   flock: the kernel frees it when its holder dies
"""

import json
import os
import shutil
import uuid
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from typing import Any

from dntk_core.base.errors import DNTKError, Vanished
from dntk_core.base.places import cache_folder
from dntk_core.cache.artifact import Artifact, Contents, make_meta, read_meta, try_meta
from dntk_core.cache.files import Checksums, Content, described, locked, sync, write, writing
from dntk_core.cache.workbench import Workbench


class Store:
    """Artifacts under one folder, by (stage, key)."""

    def __init__(self, root: Path | str | None = None):
        self.root = Path(root) if root else cache_folder()
        self._checksums = Checksums()

    def get(self, stage: str, key: str, holds: Sequence[str] = ()) -> Artifact | None:
        """Open a finished artifact, or None; a damaged one is set aside.

        One of another layout, or without the arrays, files and notes that it must hold, was written by another
        version: it is left alone, and replaced when the stage is built.
        """
        folder = self._artifact(stage, key)
        if not folder.is_dir():
            return None
        try:
            meta = read_meta(folder)
            if meta is None:
                return None
            if (meta["stage"], meta["key"]) != (stage, key):
                raise DNTKError(f"its description is that of {str(meta['stage'])[:40]}-{str(meta['key'])[:40]}")
            for path, entry in described(folder, meta["files"]).items():
                self._checksums.verify(path, entry)
        except (OSError, DNTKError) as error:
            self._set_aside(folder, error)
            return None
        artifact = Artifact(folder, meta)
        return artifact if all(map(artifact.holds, holds)) else None

    def load_or_build(
        self,
        stage: str,
        key: str,
        spec: str,
        build: Callable[[Workbench], Contents],
        help: Callable[[Workbench], None] | None = None,
        holds: Sequence[str] = (),
    ) -> Artifact:
        """Return the artifact; build it first if it is not there, once for all processes that ask.

        spec: JSON kept beside the arrays; build: given a workbench for shards, returns ({name: array or bytes}, note)
        help: builds shards on the same workbench while another process builds the artifact
        holds: names without which an artifact counts as missing
        """
        bench = Workbench(self.root / "partial" / f"{stage}-{key}")
        if (artifact := self.get(stage, key, holds)) is not None:
            if bench.folder.is_dir():
                self._clear_finished(stage, key, bench)
            return artifact
        self._make_folders()
        with self._lock(stage, key, wait=help is None) as mine:
            if mine and self.get(stage, key, holds) is None:
                self._drop_leftovers(stage, key)
                self._publish(stage, key, spec, *build(bench))
                bench.clear()
            if mine:
                return self._opened(stage, key, holds)
        bench.open()
        # Published before its workbench is cleared: if it is not there yet, the workbench just opened is in use.
        if help is not None and self.get(stage, key, holds) is None:
            help(bench)
        return self.load_or_build(stage, key, spec, build, holds=holds)

    def _opened(self, stage: str, key: str, holds: Sequence[str]) -> Artifact:
        """Open an artifact that was there a moment ago."""
        if (artifact := self.get(stage, key, holds)) is None:
            raise Vanished(f"the cached {stage} was deleted or damaged while it was in use; start again")
        return artifact

    def artifacts(self, stage: str) -> list[dict]:
        """Descriptions of all finished artifacts of a stage, unverified."""
        metas = map(try_meta, (self.root / "artifacts").glob(f"{stage}-*"))
        return [meta for meta in metas if meta is not None]

    def size(self, stage: str, key: str) -> int:
        """Bytes of an artifact, 0 if there is none that this version reads."""
        folder = self._artifact(stage, key)
        return sum(path.lstat().st_size for path in folder.iterdir()) if try_meta(folder) is not None else 0

    def delete(self, stage: str, key: str) -> None:
        """Remove an artifact and what was left of its making."""
        self._remove(self._artifact(stage, key))
        self._remove(self.root / "partial" / f"{stage}-{key}")

    def _remove(self, folder: Path) -> None:
        """Remove a folder, if it is there; renamed first, so that no reader meets half an artifact."""
        if folder.is_dir():
            doomed = self._scratch(folder.name)
            os.rename(folder, doomed)
            shutil.rmtree(doomed)

    def sweep(self, keep: Callable[[str, str], bool]) -> int:
        """Delete scratch and damaged folders, and all unlocked artifacts and shards that `keep(stage, key)` denies.

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
        with writing(self.root):
            self.root.mkdir(parents=True, exist_ok=True, mode=0o700)
            for name in ("artifacts", "partial", "locks", "scratch"):
                (self.root / name).mkdir(exist_ok=True, mode=0o700)

    def _drop_leftovers(self, stage: str, key: str) -> None:
        """Remove what a killed process left of this artifact, except its shards; only for the lock's holder."""
        for kind in ("scratch", "partial"):
            for folder in (self.root / kind).glob(f"{stage}-{key}-*"):
                shutil.rmtree(folder, ignore_errors=True)

    def _clear_finished(self, stage: str, key: str, bench: Workbench) -> None:
        """Remove the shards of an artifact whose maker was killed between publishing and clearing."""
        with suppress(DNTKError), self._lock(stage, key, wait=False) as free:
            if free:
                bench.clear()

    def _lock(self, stage: str, key: str, wait: bool = True) -> AbstractContextManager[bool]:
        return locked(self.root / "locks" / f"{stage}-{key}.lock", wait)

    def _publish(self, stage: str, key: str, spec: str, contents: Mapping[str, Content], note: dict[str, Any]) -> None:
        """Write all files to a scratch folder, then rename it into place."""
        # Made again: the cache may have been deleted while the stage was computed.
        self._make_folders()
        scratch = self._scratch(f"{stage}-{key}")
        try:
            with writing(self.root):
                scratch.mkdir(mode=0o700)
            files = dict(write(scratch, name, content) for name, content in contents.items())
            meta = make_meta(stage, key, spec, note, files)
            write(scratch, "meta.json", json.dumps(meta, indent=1).encode())
            folder = self._artifact(stage, key)
            with writing(self.root):
                for name, entry in files.items():
                    self._checksums.note(scratch / name, entry)
                # What is there has another layout, or is damaged and could not be set aside.
                self._remove(folder)
                os.rename(scratch, folder)
                sync(folder.parent)
        except BaseException:
            # A full disk gets its space back.
            shutil.rmtree(scratch, ignore_errors=True)
            raise

    def _set_aside(self, folder: Path, error: Exception) -> None:
        aside = self.root / "damaged" / f"{folder.name}-{uuid.uuid4().hex}"
        # Where nothing can be moved, or another process has done so, it is enough not to load it.
        with suppress(OSError):
            aside.parent.mkdir(exist_ok=True, mode=0o700)
            os.rename(folder, aside)
        warnings.warn(f"cached {folder.name} is damaged ({error}); set aside as {aside}, computed anew", stacklevel=4)
