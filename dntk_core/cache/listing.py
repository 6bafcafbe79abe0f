"""A listing for speed: key → JSON text, in a diskcache. It may be lost, locked or garbage at any moment.

Whoever reads it gets text or nothing, after a second at most. No path in it is ever opened or removed, no pickle
loaded.
"""

import logging
import os
import sqlite3
import time
import uuid
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import quote

import diskcache

from dntk_core.base.errors import DNTKError
from dntk_core.cache.folder import erase

log = logging.getLogger(__name__)

LONGEST_WAIT = 1
MOST_ROWS = 100_000
_READ = "SELECT key, value FROM Cache WHERE typeof(key) = 'text' AND typeof(value) = 'text' AND raw = 1 LIMIT ?"

# diskcache maps its database and SQLite its log into memory: a page that a bad disk withholds would end the process.
_UNMAPPED = {"sqlite_mmap_size": 0, "sqlite_journal_mode": "delete", "sqlite_synchronous": 0}


class TextDisk(diskcache.Disk):
    """Text only, in the database itself: no pickle is written or read, no file that a row names is touched."""

    def put(self, key: Any) -> Any:
        return super().put(_text(key))

    def get(self, key: Any, raw: bool) -> Any:
        raise DNTKError("the listing is read by `rows` alone")

    def store(self, value: Any, read: bool, key: Any = diskcache.UNKNOWN) -> Any:
        return 0, 1, None, _text(value)

    def fetch(self, mode: int, filename: str, value: Any, read: bool) -> Any:
        raise DNTKError("the listing is read by `rows` alone")

    def filename(self, key: Any = diskcache.UNKNOWN, value: Any = diskcache.UNKNOWN) -> tuple[str, str]:
        raise DNTKError("the listing has no files of its own")

    def remove(self, file_path: str) -> None:
        """Leave alone whatever path a row names."""


class Listing:
    """Texts by key below a folder of the cache; what cannot be read or written is passed over."""

    def __init__(self, root: Path):
        self.root, self.folder = root, root / "index"

    def rows(self) -> dict[str, str]:
        """All that can be read of it within a second."""
        deadline = time.monotonic() + LONGEST_WAIT
        try:
            # A pipe in its place would be waited for.
            if not (self.folder / "cache.db").is_file():
                return {}
            with closing(self._connect("ro", LONGEST_WAIT)) as database:
                database.set_progress_handler(lambda: time.monotonic() > deadline, 10_000)
                return dict(database.execute(_READ, (MOST_ROWS,)).fetchall())
        # A damaged database may raise anything; nothing depends on it.
        except Exception as error:
            log.debug("the listing of %s was not read: %s", self.root, error)
            return {}

    def add(self, rows: Mapping[str, str]) -> None:
        """Add rows; a damaged listing is replaced by one with these alone."""
        if rows:
            self._change(lambda cache: [cache.set(key, text) for key, text in rows.items()])

    def drop(self, key: str) -> None:
        """Forget a row."""
        self._change(lambda cache: cache.delete(key))

    def _change(self, change: Callable[[diskcache.Cache], object]) -> None:
        try:
            if not (self.folder / "cache.db").is_file():
                self._replace()
            # diskcache waits a minute for a lock when it opens. What is not written now is written by who looks next.
            with closing(self._connect("rw", 0)) as database:
                database.execute("PRAGMA journal_mode = delete")
                database.execute("BEGIN IMMEDIATE")
            with _cache(self.folder) as cache:
                change(cache)
        except (diskcache.Timeout, sqlite3.OperationalError, OSError) as error:
            log.debug("the listing of %s was not written: %s", self.root, error)
        except Exception as error:
            log.debug("the listing of %s is damaged: %s", self.root, error)
            self._replace()

    def _connect(self, mode: str, timeout: float) -> sqlite3.Connection:
        return sqlite3.connect(f"file:{quote(str(self.folder))}/cache.db?mode={mode}", timeout, uri=True)

    def _replace(self) -> None:
        """Put an empty listing in the place of what is there; made beside it, then renamed."""
        fresh, doomed = (self.root / "scratch" / f"{kind}-{uuid.uuid4().hex}" for kind in ("index", "listing"))
        try:
            _cache(fresh).close()
            if self.folder.exists():
                os.rename(self.folder, doomed)
            os.rename(fresh, self.folder)
        except Exception as error:
            log.debug("the listing of %s was not made anew: %s", self.root, error)
        for left in (fresh, doomed):
            erase(left)


def _cache(folder: Path) -> diskcache.Cache:
    settings = {"eviction_policy": "none", "cull_limit": 0, **_UNMAPPED}
    return diskcache.Cache(str(folder), timeout=LONGEST_WAIT, disk=TextDisk, **settings)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise DNTKError(f"the listing takes text only, got {type(value).__name__}")
    return value
