"""The small index of runs: key → JSON text, in a diskcache that neither evicts nor unpickles."""

import json
import shutil
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import diskcache
import numpy as np
from diskcache.core import MODE_RAW

from dntk_core.base.errors import DNTKError
from dntk_core.base.spec import RunSpec
from dntk_core.cache.store import Store

# The last second that calendars can show.
LATEST = 253_402_214_400


class TextDisk(diskcache.Disk):
    """Text only: a pickle is neither written nor read, whatever the folder holds."""

    def put(self, key: Any) -> Any:
        return super().put(_text(key))

    def get(self, key: Any, raw: bool) -> Any:
        if not raw:
            raise DNTKError("the index holds a pickled key; it was not loaded")
        return super().get(key, raw)

    def store(self, value: Any, read: bool, key: Any = diskcache.UNKNOWN) -> Any:
        return super().store(_text(value), read, key)

    def fetch(self, mode: int, filename: str, value: Any, read: bool) -> Any:
        if mode != MODE_RAW or not isinstance(value, str):
            raise DNTKError("the index holds a value that is not text; it was not loaded")
        return super().fetch(mode, filename, value, read)


@dataclass(frozen=True)
class RunInfo:
    """A run in the cache: finished, or begun and to be resumed. Times are seconds since 1970."""

    key: str
    spec: RunSpec
    bytes: int
    created: float
    finished: bool


class Index:
    """Which runs the cache holds; rebuilt from the artifacts when it is lost or damaged."""

    def __init__(self, store: Store):
        self.store = store
        self.folder = store.root / "index"

    def begin(self, spec: RunSpec) -> None:
        """Add a run before its first stage, so that its stages are kept and it can be resumed."""
        with self._open() as cache:
            cache.add(spec.key, json.dumps({"spec": spec.to_json(), "created": time.time()}))

    def drop(self, key: str) -> None:
        """Forget a run."""
        with self._open() as cache:
            cache.delete(key)

    def all(self) -> list[RunInfo]:
        """All runs, newest first; entries that cannot be read are left out."""
        if not self.store.root.is_dir():
            return []
        try:
            with self._open() as cache:
                entries = {str(key): _readable(cache, str(key)) for key in list(cache)}
        except DNTKError:
            # A cache that cannot be written still shows what is finished.
            entries = self._finished()
        found = [self._info(key, text) for key, text in entries.items()]
        return sorted((info for info in found if info is not None), key=lambda info: -info.created)

    @contextmanager
    def _open(self) -> Iterator[diskcache.Cache]:
        try:
            with self._cache() as cache:
                yield cache
        except (OSError, sqlite3.OperationalError) as error:
            # The disk is full or read-only: nothing is wrong with the index itself.
            raise DNTKError(
                f"the index of runs in {self.folder} cannot be used ({error}); make it writable, free some space, "
                "or set DNTK_CACHE_DIR to another folder"
            ) from error

    def _cache(self) -> diskcache.Cache:
        fresh = not self.folder.exists()
        try:
            cache = diskcache.Cache(str(self.folder), disk=TextDisk, eviction_policy="none", cull_limit=0)
            list(cache)
        except sqlite3.OperationalError:
            raise
        except (sqlite3.DatabaseError, DNTKError):
            shutil.rmtree(self.folder)
            return self._cache()
        if fresh:
            for key, text in self._finished().items():
                cache.add(key, text)
        return cache

    def _finished(self) -> dict[str, str]:
        """Entries of the runs whose last stage is there."""
        metas = self.store.artifacts("kernels")
        return {meta["key"]: json.dumps({"spec": meta["spec"], "created": meta["created"]}) for meta in metas}

    def _info(self, key: str, text: str) -> RunInfo | None:
        try:
            entry = json.loads(text)
            spec = RunSpec.from_json(entry["spec"])
            if spec.key != key:
                return None
            # Clocks jump; a date is only shown.
            created = float(np.clip(np.nan_to_num(float(entry["created"])), 0, LATEST))
        except (ValueError, KeyError, TypeError, OverflowError, RecursionError):
            return None
        sizes = {stage: self.store.size(stage, spec.stage_key(stage)) for stage in spec.stages}
        return RunInfo(key, spec, sum(sizes.values()), created, finished=sizes["kernels"] > 0)


def _readable(cache: diskcache.Cache, key: str) -> str:
    """An entry's text, empty if it is anything else."""
    try:
        return _text(cache.get(key))
    except DNTKError:
        return ""


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise DNTKError(f"the index takes text only, got {type(value).__name__}")
    return value
