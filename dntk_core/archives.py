"""Archives that others made: bounded in number, size and compression; no pickle."""

import struct
import zipfile
import zlib
from pathlib import Path

import numpy as np

from dntk_core.errors import DNTKError
from dntk_core.files import NO_ARRAY

# What zipfile raises for a file that only ends like an archive.
NO_ZIP = (zipfile.BadZipFile, zipfile.LargeZipFile, zlib.error, NotImplementedError, RuntimeError, struct.error)
MOST_ARRAYS = 100
LARGEST = 64 * 2**30
# Beyond this size, an archive that grows by more than this factor is an attack; images shrink by far less.
UNSUSPECTED, RATIO = 64 * 2**20, 200


def read_npz(path: Path) -> dict[str, np.ndarray]:
    """Read all arrays of numbers or text; DNTKError if it is no .npz file, or one that no memory could hold."""
    try:
        with zipfile.ZipFile(path) as archive:
            members = archive.infolist()
            if len(members) > MOST_ARRAYS:
                raise DNTKError(f"{path} holds {len(members):,} arrays, at most {MOST_ARRAYS} are read")
            _check_sizes(path, members)
            return {member.filename.removesuffix(".npy"): _read(archive, member) for member in members}
    except DNTKError:
        raise
    except (*NO_ARRAY, *NO_ZIP) as error:
        raise DNTKError(f"{path} cannot be read as .npz: {error}") from None


def check_zip(path: Path) -> None:
    """Refuse a zip file that would unpack to far more than its size; other files are let pass."""
    if zipfile.is_zipfile(path):
        try:
            with zipfile.ZipFile(path) as archive:
                _check_sizes(path, archive.infolist())
        except NO_ZIP as error:
            raise DNTKError(f"{path} is a damaged zip file: {error}") from None


def _check_sizes(path: Path, members: list[zipfile.ZipInfo]) -> None:
    """Judge by what the archive declares: no more than that is unpacked."""
    total = sum(member.file_size for member in members)
    if total > LARGEST:
        raise DNTKError(f"{path} would unpack to {total / 2**30:,.0f} GiB; at most {LARGEST / 2**30:.0f} are read")
    if total > UNSUSPECTED and total > RATIO * path.stat().st_size:
        raise DNTKError(f"{path} would unpack to more than {RATIO} times its size; save it with numpy.savez")


def _read(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> np.ndarray:
    with archive.open(member) as file:
        return np.lib.format.read_array(file, allow_pickle=False)
