"""Files that people send to a server whose owner allows it: bounded, checked as if they were opened, then kept."""

import hashlib
import os
import shutil
import tempfile
from pathlib import Path, PurePosixPath

from dntk_core.base.errors import DNTKError
from dntk_core.base.memory import available_bytes
from dntk_core.base.spec import DataSpec
from dntk_core.base.text import is_line
from dntk_core.cache.locks import locked
from dntk_core.data.archives import check_zip, unpack
from dntk_core.data.images import SUFFIXES as IMAGES
from dntk_core.data.images import check_header
from dntk_core.data.sources import folder, npz
from dntk_core.data.sources.folder import TRAIN_FOLDERS
from dntk_core.models.checkpoints import read_state

# Of weights only what can hold nothing but numbers: a checkpoint of 123 bytes can ask for gigabytes.
SUFFIXES = (".npz", ".zip", ".safetensors")
CLOSED = "uploads cannot be kept now; ask the server's owner whether their folder is there and has room"
# Uploads that are kept, letters of a name, and what a file may unpack to.
MOST_UPLOADS, LONGEST_NAME, LARGEST = 100, 60, 8 * 2**30


def receive(name: str, content: bytes | memoryview, uploads: Path) -> Path:
    """Keep a file below `uploads` under its name and hash, a .zip file unpacked; DNTKError leaves nothing behind."""
    stem, suffix = _checked(name)
    target = uploads / f"{stem}-{hashlib.sha256(content).hexdigest()[:16]}{suffix.removesuffix('.zip')}"
    if not os.access(uploads, os.W_OK | os.X_OK):
        raise DNTKError(CLOSED)
    try:
        with locked(uploads / ".lock", wait=True):
            _keep(name, content, target)
    except OSError as error:
        raise DNTKError(f"{CLOSED} ({error.strerror})") from None
    return target


def _keep(name: str, content: bytes | memoryview, target: Path) -> None:
    """Write, open as a run would, and rename into place."""
    uploads = target.parent
    # Whoever began these was killed: the lock is ours.
    for left in uploads.glob(".new-*"):
        shutil.rmtree(left)
    if target.exists():
        return
    if len([*uploads.glob("[!.]*")]) >= MOST_UPLOADS:
        raise DNTKError(f"there are {MOST_UPLOADS} uploads already; ask the server's owner to delete some")
    with tempfile.TemporaryDirectory(dir=uploads, prefix=".new-") as scratch:
        path = Path(scratch) / name
        path.write_bytes(content)
        try:
            os.replace(_opened(path), target)
        except DNTKError as error:
            raise DNTKError(str(error).replace(f"{scratch}/", "")) from None
        except OSError:
            raise
        # A reader may raise anything at a file that was made to break it.
        except Exception:
            raise DNTKError(f"{name} cannot be opened as what its ending says") from None


def _checked(name: str) -> tuple[str, str]:
    """Stem and ending of a name that can be a file's."""
    path = PurePosixPath(name)
    if not name or path.name != name or not is_line(name, LONGEST_NAME) or name.startswith("."):
        raise DNTKError(f"a file's name is one line of at most {LONGEST_NAME} letters, without /")
    if path.suffix not in SUFFIXES:
        raise DNTKError(f"a file must end in one of {', '.join(SUFFIXES)}, got {name!r}")
    return path.stem, path.suffix


def _opened(path: Path) -> Path:
    """Open a file as a run would; returns what is to be kept of it."""
    if path.suffix == ".zip":
        return _unpacked(path)
    # Numbers of one byte take four once they are images in [0, 1], and half of the memory stays free.
    check_zip(path, min(LARGEST, available_bytes() // 8))
    if path.suffix == ".npz":
        npz.load(DataSpec("npz", str(path)))
    else:
        read_state(path)
    return path


def _unpacked(path: Path) -> Path:
    """The folder with train/<class>/… and val/<class>/… in a .zip file."""
    scratch = path.with_suffix("")
    unpack(path, scratch, IMAGES, min(LARGEST, shutil.disk_usage(path.parent).free // 2))
    for image in scratch.rglob("*.*"):
        if image.is_file():
            check_header(image)
    found = [place for place in (scratch, *sorted(scratch.glob("*"))) if (place / TRAIN_FOLDERS[0]).is_dir()]
    if not found:
        raise DNTKError(f"{path.name} holds no images below train/<class>/")
    folder.load(DataSpec("folder", str(found[0])))
    return found[0]
