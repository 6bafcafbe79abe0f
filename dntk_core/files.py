"""Files that are written whole or not at all, checksummed, and locked."""

import fcntl
import hashlib
import json
import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from dntk_core.errors import DNTKError


@contextmanager
def locked(path: Path, wait: bool) -> Iterator[bool]:
    """Hold a file's lock; yields whether it was to be had."""
    with open(path, "w") as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        except BlockingIOError:
            yield False
            return
        yield True


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
    entry |= {"bytes": temporary.stat().st_size, "sha256": sha256(temporary)}
    os.replace(temporary, folder / name)
    sync(folder)
    return name, entry


def sync(folder: Path) -> None:
    """Make renames in a folder durable."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def sha256(path: Path) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def read_json(path: Path) -> dict:
    try:
        value = json.loads(path.read_bytes())
    except ValueError as error:
        raise DNTKError(f"{path.name} is not JSON") from error
    if not isinstance(value, dict):
        raise DNTKError(f"{path.name} is not a JSON object")
    return value
