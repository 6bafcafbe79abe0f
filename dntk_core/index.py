"""The small index of runs: key → JSON text, in a diskcache that can neither evict nor unpickle."""

import json
import shutil
import sqlite3
import time
from dataclasses import dataclass

import diskcache
from diskcache.core import MODE_RAW

from dntk_core.errors import DNTKError
from dntk_core.spec import RunSpec
from dntk_core.store import Store


class TextDisk(diskcache.Disk):
    """Text in, text out; a pickle is neither written nor read, whatever lies in the folder."""

    def put(self, key):
        return super().put(_text(key))

    def get(self, key, raw):
        if not raw:
            raise DNTKError("the index holds a pickled key; it was not loaded")
        return super().get(key, raw)

    def store(self, value, read, key=diskcache.UNKNOWN):
        return super().store(_text(value), read, key)

    def fetch(self, mode, filename, value, read):
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
        """Note a run before its first stage, so that its stages are kept and it can be resumed."""
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
        with self._open() as cache:
            found = [self._info(key, cache.get(key)) for key in list(cache)]
        return sorted((info for info in found if info is not None), key=lambda info: -info.created)

    def _open(self) -> diskcache.Cache:
        fresh = not self.folder.exists()
        try:
            cache = diskcache.Cache(str(self.folder), disk=TextDisk, eviction_policy="none", cull_limit=0)
            list(cache)
        except (sqlite3.DatabaseError, DNTKError):
            shutil.rmtree(self.folder)
            return self._open()
        if fresh:
            for meta in self.store.artifacts("kernels"):
                cache.add(meta["key"], json.dumps({"spec": meta["spec"], "created": meta["created"]}))
        return cache

    def _info(self, key: str, text: str) -> RunInfo | None:
        try:
            entry = json.loads(text)
            spec = RunSpec.from_json(entry["spec"])
            if spec.key != key:
                return None
            created = float(entry["created"])
        except (ValueError, KeyError, TypeError):
            return None
        sizes = {stage: self.store.size(stage, spec.stage_key(stage)) for stage in spec.stages}
        return RunInfo(key, spec, sum(sizes.values()), created, finished=sizes["kernels"] > 0)


def _text(value):
    if not isinstance(value, str):
        raise DNTKError(f"the index takes text only, got {type(value).__name__}")
    return value
