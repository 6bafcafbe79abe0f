"""What a disk may do to a file of the cache, each in one sentence."""

import errno
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from dntk_core.base.errors import DNTKError, Unreadable, Vanished


def is_there(path: Path) -> bool:
    """Whether there is anything at a path; OSError if that cannot be told, where later Pythons' `exists` says no."""
    return _mode(path) != 0


def is_folder(path: Path) -> bool:
    """Whether there is a folder at a path; OSError if that cannot be told."""
    return stat.S_ISDIR(_mode(path))


def _mode(path: Path) -> int:
    try:
        return path.stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        return 0


@contextmanager
def in_use(folder: Path) -> Iterator[None]:
    """Raise Vanished when a folder of the cache is deleted while it is in use."""
    try:
        yield
    except FileNotFoundError as error:
        raise Vanished(f"the cache folder {folder} was deleted while it was in use; start again") from error


@contextmanager
def reading(folder: Path) -> Iterator[None]:
    """Raise Unreadable when a file of the cache cannot be read at the moment; Vanished if it is not there."""
    try:
        with in_use(folder):
            yield
    except OSError as error:
        raise Unreadable(
            f"the cache folder {folder} cannot be read now ({error.strerror or error}); nothing was changed: try again"
        ) from error


@contextmanager
def writing(folder: Path) -> Iterator[None]:
    """Raise a DNTKError that says what to do when a file of the cache cannot be written."""
    try:
        with in_use(folder):
            yield
    except OSError as error:
        full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        what = "free some space there" if full else "make it writable"
        raise DNTKError(
            f"the cache folder {folder} cannot be written ({error.strerror or error}); {what} or set DNTK_CACHE_DIR "
            "to another folder, then start again: what is finished is kept"
        ) from error
