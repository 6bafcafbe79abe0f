"""Files that are written completely or not at all, checksummed, and locked."""

import errno
import fcntl
import hashlib
import io
import json
import os
import re
import stat
import tokenize
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Union

import numpy as np

from dntk_core.base.errors import DNTKError, Vanished

# What becomes a file: an array, parts of one, or bytes.
Content = Union[np.ndarray, "Stacked", bytes]

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9 ._-]{0,199}")
# What numpy raises for a file that only begins like an array.
NO_ARRAY = (ValueError, TypeError, OSError, EOFError, SyntaxError, OverflowError, MemoryError, RecursionError)
NO_ARRAY += (tokenize.TokenError, IndexError, KeyError)
_SHA256 = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True)
class Stacked:
    """Arrays (C, n_i, …) joined along the second axis when they are written, not held as one."""

    parts: Sequence[np.ndarray]

    @property
    def shape(self) -> tuple[int, ...]:
        first = self.parts[0].shape
        return first[0], sum(part.shape[1] for part in self.parts), *first[2:]

    @property
    def dtype(self) -> np.dtype:
        return self.parts[0].dtype

    def joined(self) -> np.ndarray:
        """As one array."""
        return np.concatenate(self.parts, axis=1)

    def pieces(self) -> Iterator[np.ndarray]:
        """All numbers in the order of one array."""
        return (part[c] for c in range(self.shape[0]) for part in self.parts)


@contextmanager
def in_use(folder: Path) -> Iterator[None]:
    """Raise Vanished when a folder of the cache is deleted while it is in use."""
    try:
        yield
    except FileNotFoundError as error:
        raise Vanished(f"the cache folder {folder} was deleted while it was in use; start again") from error


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


@contextmanager
def locked(path: Path, wait: bool) -> Iterator[bool]:
    """Hold a file's lock; yields False if another process holds it and `wait` is not set."""
    with writing(path.parent):
        handle = open(path, "w")
    with handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        except BlockingIOError:
            yield False
            return
        yield True


def write(folder: Path, name: str, content: Content) -> tuple[str, dict]:
    """Write one file (temporary file, fsync, rename): an array as <name>.npy, bytes as <name>.

    Returns the file's name and its size, sha256 and, for an array, shape and type.
    """
    entry: dict[str, Any] = {}
    if not isinstance(content, bytes):
        if content.dtype.hasobject:
            raise DNTKError(f"{name} holds Python objects; only numbers and text are stored")
        name = f"{name}.npy"
        entry = {"shape": list(content.shape), "dtype": str(content.dtype)}
    temporary = folder / f".{name}.{uuid.uuid4().hex}"
    digest = hashlib.sha256()
    try:
        with writing(folder):
            with open(temporary, "wb") as file:
                for piece in _pieces(content):
                    file.write(piece)
                    digest.update(piece)
                file.flush()
                os.fsync(file.fileno())
            entry |= {"bytes": temporary.stat().st_size, "sha256": digest.hexdigest()}
            os.replace(temporary, folder / name)
            sync(folder)
    except DNTKError:
        # A full disk is not to be filled further.
        with suppress(OSError):
            temporary.unlink()
        raise
    return name, entry


def _pieces(content: Content) -> Iterator[bytes | memoryview]:
    """The bytes of a file; of an array the .npy header, then its numbers in C order."""
    if isinstance(content, bytes):
        yield content
        return
    header = io.BytesIO()
    description = np.lib.format.dtype_to_descr(content.dtype)
    np.lib.format.write_array_header_1_0(
        header, {"descr": description, "fortran_order": False, "shape": tuple(content.shape)}
    )
    yield header.getvalue()
    for piece in content.pieces() if isinstance(content, Stacked) else (content,):
        # As bytes: a buffer cannot be made of text or dates.
        yield np.ascontiguousarray(piece).reshape(-1).view(np.uint8).data


def sync(folder: Path) -> None:
    """Make renames in a folder durable."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def sha256(path: Path) -> str:
    """The sha256 of a file's content, as hexadecimal text."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def read_array(path: Path) -> np.ndarray:
    """Memory-map an .npy file of numbers or text; DNTKError if it is anything else."""
    with in_use(path.parent):
        try:
            return np.lib.format.open_memmap(path, mode="r")
        except FileNotFoundError:
            raise
        except NO_ARRAY as error:
            raise DNTKError(f"{path.name} cannot be read as an array: {error}") from None


def read_json(path: Path) -> dict:
    """Read a JSON object; DNTKError if the file holds anything else."""
    try:
        value = json.loads(path.read_bytes())
    except (ValueError, RecursionError) as error:
        raise DNTKError(f"{path.name} is not JSON") from error
    if not isinstance(value, dict):
        raise DNTKError(f"{path.name} is not a JSON object")
    return value


class Checksums:
    """Which files are known to hold what their descriptions say, so that each is read once to verify it.

    A file is known by its place on the disk, its size and its times: a rename of its folder keeps them, a change of the
    file does not.
    """

    def __init__(self):
        self._known: set[tuple] = set()

    def note(self, path: Path, entry: dict) -> None:
        """Trust a file that was just written by this process."""
        self._known.add(_identity(path, entry))

    def verify(self, path: Path, entry: dict) -> None:
        """Raise a DNTKError unless the file has the size and sha256 of its entry."""
        identity = _identity(path, entry)
        if identity not in self._known:
            if path.stat().st_size != entry["bytes"] or sha256(path) != entry["sha256"]:
                raise DNTKError(f"{path.name} does not match its checksum")
            self._known.add(identity)


def _identity(path: Path, entry: dict) -> tuple:
    status = path.stat()
    place = status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns
    return *place, entry["bytes"], entry["sha256"]


def described(folder: Path, files: Any) -> dict[Path, dict]:
    """The files that a description lists, as `write` describes them; DNTKError unless they are files of the folder."""
    if not isinstance(files, dict):
        raise DNTKError("its list of files is not a JSON object")
    for name, entry in files.items():
        # The name is judged before anything is looked at: it may point anywhere.
        if not _NAME.fullmatch(name) or not _is_entry(entry):
            raise DNTKError("its list of files has an unknown form")
        if not stat.S_ISREG((folder / name).lstat().st_mode):
            raise DNTKError(f"{name} is not a file")
    return {folder / name: entry for name, entry in files.items()}


def _is_entry(entry: Any) -> bool:
    """Whether this has the form of what `write` returns of a file."""
    if not isinstance(entry, dict) or not {"bytes", "sha256"} <= set(entry) <= {"bytes", "sha256", "shape", "dtype"}:
        return False
    shape, dtype = entry.get("shape", []), entry.get("dtype", "")
    return (
        type(entry["bytes"]) is int
        and type(entry["sha256"]) is str
        and bool(_SHA256.fullmatch(entry["sha256"]))
        and type(dtype) is str
        and type(shape) is list
        and all(type(side) is int for side in shape)
    )
