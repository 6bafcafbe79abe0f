"""The cache's own folder: closed to others from its first moment, and what is called what in it.

<root>/artifacts/<stage>-<key>/meta.json, *.npy, *.safetensors    finished; published by one rename
<root>/partial/<stage>-<key>/<shard>.npy + .json                  shards of a stage under way; those of gradients stay
<root>/scratch/<stage>-<key>-<random>/                            being written or removed, under that artifact's lock
<root>/runs/<key>.json                                            every run that was begun and not deleted
<root>/damaged/…                                                  set aside, never loaded, removed only by name
<root>/locks/<stage>-<key>.lock                                   flock: the kernel frees it when its holder dies
<root>/index/                                                     a listing for speed; may be lost at any moment
"""

import os
import re
import shutil
import stat
import warnings
from contextlib import suppress
from pathlib import Path

from dntk_core.base.errors import DNTKError
from dntk_core.cache.disk import writing

FOLDERS = ("artifacts", "partial", "locks", "scratch")
_NAME = re.compile(r"(?P<stage>[^-]+)-(?P<key>[^-]+?)(?:-[0-9a-f]{32})?")
_judged: set[Path] = set()


def make_folders(root: Path) -> None:
    """Make the cache folder, for its owner alone, and the folders in it."""
    with writing(root):
        root.mkdir(parents=True, exist_ok=True, mode=0o700)
        judge(root)
        for name in FOLDERS:
            (root / name).mkdir(exist_ok=True, mode=0o700)


def judge(root: Path) -> None:
    """Refuse another user's cache folder; warn, once, of one that others can look into or write to."""
    if root in _judged:
        return
    status = root.stat()
    if status.st_uid != os.geteuid():
        sentence = f"the cache folder {root} belongs to another user; set DNTK_CACHE_DIR to a folder of your own"
        # The superuser may be one to whom a container handed the folder.
        if os.geteuid():
            raise DNTKError(sentence)
        warnings.warn(sentence, stacklevel=3)
    elif status.st_mode & (stat.S_IRWXG | stat.S_IRWXO):
        what = "write to" if status.st_mode & (stat.S_IWGRP | stat.S_IWOTH) else "look into"
        warnings.warn(f"others can {what} the cache folder {root}; close it: chmod 700 {root}", stacklevel=3)
    _judged.add(root)


def names(folder: Path) -> list[str]:
    """The names in a folder; none if it is not there, OSError if that cannot be told."""
    try:
        return sorted(os.listdir(folder))
    except FileNotFoundError:
        return []


def stage_and_key(name: str) -> tuple[str, str] | None:
    """Whose folder this is; the random ending of a scratch folder does not count."""
    found = _NAME.fullmatch(name)
    return (found["stage"], found["key"]) if found else None


def erase(folder: Path) -> None:
    """Remove a folder and all that is in it, as far as that can be done now; what is left is swept another time."""
    # What is told to ignore errors does not ignore all of them.
    with suppress(OSError):
        shutil.rmtree(folder, ignore_errors=True)


def size(folder: Path) -> int:
    """Bytes of all files below a folder, as far as they can be seen."""
    total = 0
    for place, _, files in os.walk(folder):
        for name in files:
            try:
                total += os.lstat(os.path.join(place, name)).st_size
            except OSError:
                continue
    return total
