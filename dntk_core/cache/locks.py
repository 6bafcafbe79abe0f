"""Locks between processes: one holder each, freed by the kernel when it dies."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from dntk_core.base.errors import DNTKError
from dntk_core.cache.disk import writing

# Whoever waits for what no lock guards looks this often, in seconds.
PAUSE = 0.1


@contextmanager
def locked(path: Path, wait: bool) -> Iterator[bool]:
    """Hold a file's lock; yields False if another process holds it and `wait` is not set."""
    with writing(path.parent):
        handle = open(path, "w")
    with handle:
        mine = _take(handle, path, wait)
        if mine:
            _still_there(handle, path)
        yield mine


def _still_there(handle: IO, path: Path) -> None:
    """Raise Vanished if the file was deleted while it was waited for: whoever comes next locks another one."""
    with writing(path.parent):
        if not os.path.samestat(os.fstat(handle.fileno()), os.stat(path)):
            raise FileNotFoundError(path)


def _take(handle: IO, path: Path, wait: bool) -> bool:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except BlockingIOError:
        return False
    except OSError as error:
        raise DNTKError(
            f"{path.parent} takes no locks ({error.strerror or error}), and without them two processes could write "
            "one file; set DNTK_CACHE_DIR to a folder on a local disk, then start again: what is finished is kept"
        ) from error
    return True
