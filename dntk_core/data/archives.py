"""Archives that others made: bounded in number, size and compression; no pickle, nothing written elsewhere."""

import io
import math
import shutil
import stat
import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import IO

import numpy as np

from dntk_core.base.errors import DNTKError
from dntk_core.base.text import is_line
from dntk_core.cache.files import NO_ARRAY

# What zipfile raises for a file that only ends like an archive.
NO_ZIP = (zipfile.BadZipFile, zipfile.LargeZipFile, zlib.error, struct.error, RuntimeError, ValueError, EOFError)
MOST_ARRAYS, MOST_FILES, LONGEST_PATH, DEEPEST = 100, 100_000, 255, 8
LARGEST_CONTENT = 64 * 2**30
# Where a zip file's end is looked for: its longest comment, and what may stand before that.
TAIL = 2**16 + 100
# Beyond this size, an archive that grows by more than this factor is an attack; images shrink by far less.
UNSUSPECTED, RATIO = 64 * 2**20, 200


def read_npz(path: Path) -> dict[str, np.ndarray]:
    """Read all arrays of numbers or text; DNTKError if it is no .npz file, or one that no memory could hold."""
    with _explained(f"{path} cannot be read as .npz", *NO_ARRAY), zipfile.ZipFile(path) as archive:
        members = _members(path, archive, MOST_ARRAYS, LARGEST_CONTENT)
        return {member.filename.removesuffix(".npy"): _read(archive, member) for member in members}


def check_zip(path: Path, largest: int = LARGEST_CONTENT) -> None:
    """Refuse a zip file that would unpack to far more than its size, or than `largest`; skip other files."""
    with _explained(f"{path} is a damaged zip file"):
        if zipfile.is_zipfile(path):
            with zipfile.ZipFile(path) as archive:
                _members(path, archive, MOST_FILES, largest)


def unpack(path: Path, target: Path, suffixes: set[str], largest: int) -> None:
    """Unpack the files with these endings; an archive with links, or that would write elsewhere, is refused."""
    with _explained(f"{path} cannot be unpacked"), zipfile.ZipFile(path) as archive:
        members = _members(path, archive, MOST_FILES, largest)
        places = {_place(path, member): member for member in members if not member.filename.endswith("/")}
        for place, member in places.items():
            if place.suffix.lower() in suffixes:
                try:
                    (target / place).parent.mkdir(parents=True, exist_ok=True)
                    with archive.open(member) as source, open(target / place, "xb") as sink:
                        shutil.copyfileobj(source, sink)
                except (FileExistsError, NotADirectoryError, IsADirectoryError):
                    raise DNTKError(f"{path} holds two files of the same name") from None


@contextmanager
def _explained(what: str, *more: type[Exception]) -> Iterator[None]:
    """Turn what zipfile raises, and `more`, into one sentence."""
    try:
        yield
    except DNTKError:
        raise
    except (*NO_ZIP, *more) as error:
        raise DNTKError(f"{what}: {str(error).partition(chr(10))[0]}") from None


def _place(path: Path, member: zipfile.ZipInfo) -> PurePosixPath:
    """Where a member belongs below the folder it is unpacked to."""
    place, kind = PurePosixPath(member.filename), stat.S_IFMT(member.external_attr >> 16)
    if place.is_absolute() or ".." in place.parts or "\\" in member.filename:
        raise DNTKError(f"a file in {path} would lie outside its folder")
    if not place.parts or not is_line(member.filename, LONGEST_PATH) or len(member.filename.encode()) > LONGEST_PATH:
        raise DNTKError(f"a file in {path} has a name that is not one line of at most {LONGEST_PATH} letters")
    if len(place.parts) > DEEPEST:
        raise DNTKError(f"a file in {path} lies in more than {DEEPEST - 1} folders")
    if kind not in (0, stat.S_IFREG):
        raise DNTKError(f"{path} holds links or devices; only files are unpacked")
    return place


def _members(path: Path, archive: zipfile.ZipFile, most: int, largest: int) -> list[zipfile.ZipInfo]:
    """The members of an archive within its bounds; zipfile unpacks no more of a member than it declares."""
    _check_directory(path)
    members = archive.infolist()
    if not all(member.compress_type in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED) for member in members):
        raise DNTKError(f"{path} is packed in an unusual way; save it with plain deflation")
    if len(members) > most:
        raise DNTKError(f"{path} holds {len(members):,} files, at most {most:,} are taken")
    total = sum(member.file_size for member in members)
    if total > largest:
        raise DNTKError(f"{path} would unpack to {total / 2**30:,.1f} GiB; at most {largest / 2**30:,.1f} are taken")
    if total > UNSUSPECTED and total > RATIO * path.stat().st_size:
        raise DNTKError(f"{path} would unpack to more than {RATIO} times its size; save it with less compression")
    return members


def _check_directory(path: Path) -> None:
    """Refuse an archive in which another reader could find another directory: what is checked is what is read."""
    with open(path, "rb") as file:
        size = file.seek(0, io.SEEK_END)
        start = file.seek(max(0, size - TAIL))
        tail = file.read()
    at = tail.rfind(b"PK\5\6")
    length, offset = struct.unpack_from("<LL", tail, at + 12)
    end = start + at
    if tail[max(0, at - 20) :].startswith(b"PK\6\7"):
        (end,) = struct.unpack_from("<Q", tail, at - 12)
        long = struct.unpack_from("<QQ", tail, at - 36)
        here = end == start + at - 76 and tail[at - 76 :].startswith(b"PK\6\6")
        if not here or any(short not in (2**32 - 1, true) for short, true in zip((length, offset), long, strict=True)):
            raise DNTKError(f"{path} has two directories; save it anew")
        length, offset = long
    if offset + length != end:
        raise DNTKError(f"{path} has more than one archive in it; save it anew")


def _read(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> np.ndarray:
    with archive.open(member) as file:
        _check_header(file, member)
    with archive.open(member) as file:
        return np.lib.format.read_array(file, allow_pickle=False)


def _check_header(file: IO[bytes], member: zipfile.ZipInfo) -> None:
    """Refuse an array whose header claims other than what follows it: of no bytes each, any number fits in a file."""
    version = np.lib.format.read_magic(file)
    read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    shape, _, dtype = read(file)
    follows = member.file_size - file.tell()
    if dtype.hasobject or dtype.itemsize == 0 or math.prod(shape) * dtype.itemsize != follows:
        raise ValueError(f"its {member.filename[:40]!r} is no plain array of the size it claims")
