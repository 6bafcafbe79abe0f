"""The artifact cache: atomic, checksummed, locked, pickle-free. `folder` says what lies where."""

import json
import os
import time
import uuid
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from typing import Any

from dntk_core.base.errors import Damaged, DNTKError, Vanished
from dntk_core.base.places import cache_folder
from dntk_core.cache.artifact import Artifact, Content, Contents, make_meta, read_meta, try_meta
from dntk_core.cache.disk import is_folder, reading, writing
from dntk_core.cache.files import Checksums, described, sync, write
from dntk_core.cache.folder import erase, make_folders, names, size, stage_and_key
from dntk_core.cache.locks import PAUSE, locked
from dntk_core.cache.shards import Shards, link_shards
from dntk_core.cache.workbench import Workbench


class Store:
    """Artifacts under one folder, by (stage, key)."""

    def __init__(self, root: Path | str | None = None):
        self.root = Path(root) if root else cache_folder()
        self._checksums = Checksums()

    def get(self, stage: str, key: str, holds: Sequence[str] = ()) -> Artifact | None:
        """Open a finished artifact, or None; a damaged one is set aside, one that cannot be read now is a DNTKError.

        One of another layout, or without the arrays, files and notes that it must hold, was written by another
        version: it is left alone, and replaced when the stage is built.
        """
        try:
            artifact = self._open(stage, key)
        except (Damaged, Vanished) as error:
            self._set_aside(stage, key, error)
            return None
        return artifact if artifact is not None and all(map(artifact.holds, holds)) else None

    def _open(self, stage: str, key: str) -> Artifact | None:
        """Open and verify an artifact; None if there is none, or one of another layout."""
        folder = self.artifact_folder(stage, key)
        with reading(folder):
            if not is_folder(folder) or (meta := read_meta(folder)) is None:
                return None
            if (meta["stage"], meta["key"]) != (stage, key):
                raise Damaged(f"its description is that of {str(meta['stage'])[:40]}-{str(meta['key'])[:40]}")
            self._checksums.verify_all(described(folder, meta["files"]))
        artifact = Artifact(folder, meta, self._checksums)
        artifact.check_shards()
        return artifact

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
        bench = self._bench(stage, key)
        if (artifact := self.get(stage, key, holds)) is not None:
            self._clear_finished(stage, key, bench)
            return artifact
        make_folders(self.root)
        with self._lock(stage, key, help is None) as mine:
            if mine and self.get(stage, key, holds) is None:
                self._drop_leftovers(stage, key)
                trusted = self._publish(stage, key, spec, *build(bench))
                bench.clear()
                self._trust(stage, key, trusted)
            if mine:
                return self._opened(stage, key, holds)
        bench.open()
        # Published before its workbench is cleared: if it is not there yet, the workbench just opened is in use.
        if help is not None and self.get(stage, key, holds) is None:
            help(bench)
        return self.load_or_build(stage, key, spec, build, holds=holds)

    def follow(
        self,
        stage: str,
        key: str,
        help: Callable[[Workbench], None] | None = None,
        holds: Sequence[str] = (),
    ) -> Artifact:
        """Return the artifact that another process builds, without a lock: first `help`, then wait for it."""
        if help is not None and self.get(stage, key, holds) is None:
            make_folders(self.root)
            bench = self._bench(stage, key)
            bench.open()
            help(bench)
        while (artifact := self.get(stage, key, holds)) is None:
            time.sleep(PAUSE)
        return artifact

    def _opened(self, stage: str, key: str, holds: Sequence[str]) -> Artifact:
        """Open an artifact that was there a moment ago."""
        if (artifact := self.get(stage, key, holds)) is None:
            raise Vanished(f"the cached {stage} was deleted or damaged while it was in use; start again")
        return artifact

    def all(self) -> list[tuple[str, str]]:
        """(stage, key) of every finished artifact."""
        with reading(self.root):
            found = map(stage_and_key, names(self.root / "artifacts"))
        return [pair for pair in found if pair is not None]

    def size(self, stage: str, key: str) -> int:
        """Bytes of an artifact, 0 if there is none that this version reads."""
        folder = self.artifact_folder(stage, key)
        return size(folder) if try_meta(folder) is not None else 0

    def note(self, stage: str, key: str) -> dict[str, Any]:
        """What a stage wrote beside its arrays, unverified; empty if there is none that this version reads."""
        meta = try_meta(self.artifact_folder(stage, key))
        return {} if meta is None else meta["note"]

    def under_way(self, stage: str, key: str) -> bool:
        """Whether a process is building the artifact."""
        with reading(self.root):
            if not is_folder(self.root / "locks"):
                return False
        with self._lock(stage, key, wait=False) as free:
            return not free

    def delete(self, stage: str, key: str) -> None:
        """Remove an artifact; refused while another process builds it."""
        make_folders(self.root)
        with self._lock(stage, key, wait=False) as free:
            if not free:
                raise DNTKError(f"the {stage} of this run is being computed; stop that first, then delete it")
            self._remove(self.artifact_folder(stage, key))

    def _remove(self, folder: Path) -> None:
        """Remove a folder, if it is there, under its artifact's lock; renamed first, so that no reader meets half."""
        with writing(self.root):
            if is_folder(folder):
                doomed = self._scratch(folder.name)
                os.rename(folder, doomed)
                erase(doomed)

    def sweep(self, needed: Callable[[], set[tuple[str, str]]]) -> int:
        """Delete all unlocked artifacts and shards that are not needed, and what killed processes left half-written.

        needed: asked after the folders were listed, so that what is begun meanwhile is kept; what is damaged stays
        Returns the bytes freed.
        """
        with reading(self.root):
            if not is_folder(self.root):
                return 0
        make_folders(self.root)
        with reading(self.root):
            found = [(kind, name) for kind in ("scratch", "partial", "artifacts") for name in names(self.root / kind)]
        keep, freed = needed(), 0
        for kind, name in found:
            owner = stage_and_key(name)
            leftover = kind == "scratch" or (owner is not None and name != "-".join(owner))
            if owner is not None and (leftover or owner not in keep):
                freed += self._sweep_one(self.root / kind / name, *owner, leftover)
        return freed

    def _sweep_one(self, folder: Path, stage: str, key: str, leftover: bool) -> int:
        with self._lock(stage, key, wait=False) as free:
            if not free:
                return 0
            held = size(folder)
            if leftover:
                erase(folder)
            else:
                self._remove(folder)
            return held

    def discard_damaged(self) -> int:
        """Remove what was set aside; returns the bytes freed."""
        before = self.bytes()
        erase(self.root / "damaged")
        return before - self.bytes()

    def bytes(self) -> int:
        """Size of all files under the root."""
        return size(self.root)

    def artifact_folder(self, stage: str, key: str) -> Path:
        """Where an artifact lies, if it is there."""
        return self.root / "artifacts" / f"{stage}-{key}"

    def _bench(self, stage: str, key: str) -> Workbench:
        return Workbench(self.root / "partial" / f"{stage}-{key}", self._checksums)

    def _scratch(self, name: str) -> Path:
        return self.root / "scratch" / f"{name}-{uuid.uuid4().hex}"

    def _drop_leftovers(self, stage: str, key: str) -> None:
        """Remove what a killed process left of this artifact, except its shards; only for the lock's holder."""
        with reading(self.root):
            found = [(kind, name) for kind in ("scratch", "partial") for name in names(self.root / kind)]
        for kind, name in found:
            if name.startswith(f"{stage}-{key}-"):
                erase(self.root / kind / name)

    def _clear_finished(self, stage: str, key: str, bench: Workbench) -> None:
        """Remove the shards of an artifact whose maker was killed between publishing and clearing, if there are any."""
        with suppress(OSError, DNTKError):
            if is_folder(bench.folder):
                with self._lock(stage, key, wait=False) as free:
                    if free:
                        bench.clear()

    def _lock(self, stage: str, key: str, wait: bool = True) -> AbstractContextManager[bool]:
        return locked(self.root / "locks" / f"{stage}-{key}.lock", wait)

    def _publish(
        self, stage: str, key: str, spec: str, contents: Mapping[str, Content], note: dict[str, Any]
    ) -> dict[str, dict]:
        """Write all files to a scratch folder, then rename it into place; what of them this process has vouched for."""
        # Made again: the cache may have been deleted while the stage was computed.
        make_folders(self.root)
        scratch = self._scratch(f"{stage}-{key}")
        try:
            with writing(self.root):
                scratch.mkdir(mode=0o700)
            files, trusted = {}, {}
            for name, content in contents.items():
                if isinstance(content, Shards):
                    linked, known = link_shards(scratch, name, content)
                    files |= linked
                    trusted |= {file: linked[file] for file in known}
                else:
                    file, entry = write(scratch, name, content)
                    files[file] = trusted[file] = entry
            meta = make_meta(stage, key, spec, note, files)
            # Its folder is flushed with it, and so are the links.
            write(scratch, "meta.json", json.dumps(meta, indent=1).encode())
            folder = self.artifact_folder(stage, key)
            with writing(self.root):
                # What is there has another layout, or is damaged and could not be set aside.
                self._remove(folder)
                os.rename(scratch, folder)
                sync(folder.parent)
            return trusted
        except BaseException:
            # A full disk gets its space back.
            erase(scratch)
            raise

    def _trust(self, stage: str, key: str, files: dict[str, dict]) -> None:
        """Do not read again what this process has written; only now, since links that go change a file's times."""
        folder = self.artifact_folder(stage, key)
        # Deleted or out of reach already: whoever opens it is told.
        with suppress(OSError):
            for name, entry in files.items():
                self._checksums.note(folder / name, entry)

    def _set_aside(self, stage: str, key: str, error: Exception) -> None:
        """Move a damaged artifact out of the way, if it is still there and still damaged once it is locked."""
        folder = self.artifact_folder(stage, key)
        aside = self.root / "damaged" / f"{folder.name}-{uuid.uuid4().hex}"
        # Where nothing can be moved, or its lock's holder replaces it, it is enough not to load it.
        with suppress(OSError, DNTKError):
            make_folders(self.root)
            with self._lock(stage, key, wait=False) as free:
                try:
                    if not free or self._open(stage, key) is not None or not is_folder(folder):
                        return
                except (Damaged, Vanished):
                    aside.parent.mkdir(exist_ok=True, mode=0o700)
                    os.rename(folder, aside)
        warnings.warn(f"cached {folder.name} is damaged ({error}); set aside as {aside}, computed anew", stacklevel=4)
