"""Files that are written completely or not at all, and checksummed."""

import hashlib
import io
import json
import os
import re
import shutil
import stat
import tokenize
import uuid
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from threading import Thread
from typing import Any

import numpy as np

from dntk_core.base.errors import Damaged, DNTKError
from dntk_core.base.processes import world_size
from dntk_core.cache.disk import reading, writing

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9 ._-]{0,199}")
# What numpy raises for a file that only begins like an array.
NO_ARRAY = (ValueError, TypeError, OSError, EOFError, SyntaxError, OverflowError, MemoryError, RecursionError)
NO_ARRAY += (tokenize.TokenError, IndexError, KeyError)
_SHA256 = re.compile(r"[0-9a-f]{64}")


def write(folder: Path, name: str, content: np.ndarray | bytes) -> tuple[str, dict]:
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


def _pieces(content: np.ndarray | bytes) -> Iterator[bytes | memoryview]:
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
    # As bytes: a buffer cannot be made of text or dates.
    yield np.ascontiguousarray(content).reshape(-1).view(np.uint8).data


def copy(path: Path, to: Path) -> None:
    """Copy a file, durably."""
    with open(path, "rb") as source, open(to, "wb") as target:
        shutil.copyfileobj(source, target)
        target.flush()
        os.fsync(target.fileno())


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


def map_array(path: Path) -> np.ndarray:
    """Memory-map an .npy file of numbers or text; Damaged if it is anything else.

    Only for what this process has just written or verified, and soon reads: if the file is cut meanwhile, reading ends
    the process.
    """
    with reading(path.parent):
        try:
            return np.lib.format.open_memmap(path, mode="r")
        except OSError:
            raise
        except NO_ARRAY as error:
            raise Damaged(f"{path.name} cannot be read as an array: {str(error)[:200]}") from None


def read_json(path: Path) -> dict:
    """Read a JSON object; Damaged if the file holds anything else."""
    try:
        value = json.loads(path.read_bytes())
    except (ValueError, RecursionError) as error:
        raise Damaged(f"{path.name} is not JSON") from error
    if not isinstance(value, dict):
        raise Damaged(f"{path.name} is not a JSON object")
    return value


# Bytes that are read to verify them before an artifact is opened: seconds. More are read in the background.
AT_ONCE = 2**31


class Checksums:
    """Which files are known to hold what their descriptions say, so that each is read once to verify it.

    A file is known by its place on the disk, its size and its times: a rename of its folder keeps them, a change of the
    file does not.
    """

    def __init__(self):
        self._known: set[tuple] = set()
        self._damaged: set[tuple] = set()
        self._reading: dict[tuple, Thread] = {}

    def note(self, path: Path, entry: dict) -> None:
        """Trust a file that was just written by this process."""
        self._known.add(_identity(path, entry))

    def knows(self, path: Path, entry: dict) -> bool:
        """Whether a file was written or verified by this process, and not changed since."""
        return _identity(path, entry) in self._known

    def verify(self, path: Path, entry: dict) -> None:
        """Raise Damaged unless the file has the size and sha256 of its entry.

        A large file is read in the background, so that a run opens at once; if it is damaged, the next one to open it
        is told.
        """
        if (identity := self._unknown(path, entry)) is None:
            return
        if entry["bytes"] > AT_ONCE:
            self._later({path: (entry, identity)})
        elif not self._matches(path, entry, identity):
            raise Damaged(f"{path.name} does not match its checksum")

    def verify_all(self, files: Mapping[Path, dict]) -> None:
        """Verify files that are opened together: at once if they are small, else their sizes; the rest is read later.

        That is, in the background, and before anything is read out of them.
        """
        if sum(entry["bytes"] for entry in files.values()) <= AT_ONCE:
            for path, entry in files.items():
                self.verify(path, entry)
            return
        unknown = {path: (entry, self._unknown(path, entry)) for path, entry in files.items()}
        # Of several ranks each verifies what it reads: all of them together read every file once.
        if world_size() == 1:
            self._later({path: (entry, found) for path, (entry, found) in unknown.items() if found is not None})

    def settle(self) -> None:
        """Wait until every file that is read in the background was read."""
        for reader in list(self._reading.values()):
            reader.join()

    def _unknown(self, path: Path, entry: dict) -> tuple | None:
        """The identity of a file that is yet to be verified, None if it was; Damaged if its size does not fit."""
        identity = _identity(path, entry)
        if identity in self._known:
            return None
        if identity[2] != entry["bytes"] or identity in self._damaged:
            raise Damaged(f"{path.name} does not match its checksum")
        return identity

    def _later(self, files: dict[Path, tuple[dict, tuple]]) -> None:
        """Read files in the background, one after the other."""
        files = {path: pair for path, pair in files.items() if pair[1] not in self._reading}

        def read() -> None:
            for path, (entry, identity) in files.items():
                # Deleted or out of reach meanwhile: not known to be damaged, read again by the next one to open it.
                with suppress(OSError):
                    if identity not in self._known:
                        self._matches(path, entry, identity)
                # Two names may be one file.
                self._reading.pop(identity, None)

        if files:
            reader = Thread(target=read, daemon=True)
            self._reading |= {identity: reader for _, identity in files.values()}
            reader.start()

    def _matches(self, path: Path, entry: dict, identity: tuple) -> bool:
        """Read a file; whether it is what its entry says."""
        fits = sha256(path) == entry["sha256"]
        (self._known if fits else self._damaged).add(identity)
        return fits


def _identity(path: Path, entry: dict) -> tuple:
    status = path.stat()
    place = status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns
    return *place, entry["bytes"], entry["sha256"]


def described(folder: Path, files: dict[str, Any]) -> dict[Path, dict]:
    """The files that a description lists, as `write` describes them; Damaged unless they are files of the folder."""
    for name, entry in files.items():
        # The name is judged before anything is looked at: it may point anywhere.
        if not _NAME.fullmatch(name) or not _is_entry(entry):
            raise Damaged("its list of files has an unknown form")
        if not stat.S_ISREG((folder / name).lstat().st_mode):
            raise Damaged(f"{name} is not a file")
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
