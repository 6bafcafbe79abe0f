"""What a folder holds, as one checksum: of every file its name and its content, each read once.

A content is remembered by its file's size, times and place on the disk: a change that keeps all of these is not seen.
"""

import hashlib
import json
import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

from dntk_core.base.errors import DNTKError, Unreadable
from dntk_core.base.places import cache_folder
from dntk_core.cache.files import read_json, sha256, write
from dntk_core.cache.folder import make_folders
from dntk_core.cache.sealed import SEAL, check_seal, sealed

Known = dict[str, list]


def fingerprint(path: Path) -> str:
    """The checksum of a file's or folder's content; DNTKError if it cannot be read."""
    try:
        return sha256(path) if path.is_file() else folder_fingerprint(path)
    except OSError as error:
        raise Unreadable(f"{error.filename or path} cannot be read now ({error.strerror}); try again") from error


def folder_fingerprint(folder: Path) -> str:
    """sha256 over the names and contents of all files below a folder, in the order of their names as bytes."""
    memory = cache_folder() / "fingerprints" / f"{hashlib.sha256(os.fsencode(folder.resolve())).hexdigest()[:20]}.json"
    known, files = _remembered(memory), _files(folder)
    with ThreadPoolExecutor(4) as pool:
        looked = pool.map(lambda name: _digest(os.path.join(os.fsencode(folder), name), known.get(_text(name))), files)
        found: Known = {_text(name): digest for name, digest in zip(files, looked, strict=True)}
    if found != known:
        _remember(memory, found)
    whole = hashlib.sha256()
    for name in files:
        whole.update(name + b"\0" + found[_text(name)][-1].encode() + b"\n")
    return whole.hexdigest()


def former_fingerprint(folder: Path) -> str:
    """What earlier versions took for a folder's content, its names and sizes: runs of theirs can still be resumed."""
    listing = hashlib.sha256()
    for file in sorted(folder.rglob("*")):
        if file.is_file():
            line = f"{file.relative_to(folder)}\\0{file.stat().st_size}\\n"
            listing.update(line.encode(errors="surrogateescape"))
    return listing.hexdigest()


def _files(folder: Path) -> list[bytes]:
    """The names of all files below a folder, as bytes: not every name is text."""
    root = os.fsencode(folder)
    return sorted(os.path.relpath(path, root) for path in _below(root))


def _below(root: bytes) -> Iterator[bytes]:
    """Every file below a folder; links are followed, as the folder of a class may be one, but never in circles."""
    waiting: list[tuple[bytes, tuple]] = [(root, ())]
    while waiting:
        place, above = waiting.pop()
        status = os.stat(place)
        here = status.st_dev, status.st_ino
        if here in above:
            continue
        with os.scandir(place) as found:
            for entry in found:
                if entry.is_dir():
                    waiting.append((entry.path, (*above, here)))
                elif entry.is_file():
                    yield entry.path


def _digest(path: bytes, known: list | None) -> list:
    """[size, times, place, sha256] of a file; read only if the rest has changed."""
    status = os.stat(path)
    stamp = [status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino]
    if known is not None and known[:-1] == stamp:
        return known
    return [*stamp, sha256(Path(os.fsdecode(path)))]


def _text(name: bytes) -> str:
    return os.fsdecode(name)


def _remembered(memory: Path) -> Known:
    with suppress(OSError, DNTKError):
        document = read_json(memory)
        check_seal(document)
        if set(document) == {"files", SEAL}:
            return document["files"]
    return {}


def _remember(memory: Path, found: Known) -> None:
    # What is not remembered is only read again.
    with suppress(OSError, DNTKError):
        make_folders(memory.parent.parent)
        memory.parent.mkdir(exist_ok=True, mode=0o700)
        write(memory.parent, memory.name, json.dumps(sealed({"files": found})).encode())
