"""Sees every file that this process writes, moves or removes, and every program and connection it starts."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

# Event → which of its arguments are paths, and which one the folder they are relative to.
_CHANGES = {
    "os.rename": ((0, 1), (2, 3)),
    "os.link": ((1,), (3,)),
    "os.symlink": ((1,), (2,)),
    "os.remove": ((0,), (1,)),
    "os.mkdir": ((0,), (2,)),
    "os.rmdir": ((0,), (1,)),
    "os.truncate": ((0,), ()),
    "os.chmod": ((0,), (2,)),
    "sqlite3.connect": ((0,), ()),
}
_STARTS = ("subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "socket.connect", "pickle.find_class")
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_listening: list[list[str]] = []
# A hook cannot be taken out again: there is one for all.
_installed: list[bool] = []


@contextmanager
def outside(folder: Path) -> Iterator[list[str]]:
    """Collect what happens outside a folder, as "event place"; the list is filled when the block ends."""
    if not _installed:
        sys.addaudithook(_hear)
        _installed.append(True)
    seen: list[str] = []
    real = os.path.realpath(folder)
    _listening.append(seen)
    found: list[str] = []
    try:
        yield found
    finally:
        _listening.remove(seen)
        found += [line for line in seen if not f"{line.partition(' ')[2]}/".startswith(f"{real}/")]


def _hear(event: str, arguments: tuple) -> None:
    if not _listening:
        return
    if event == "open":
        path, _, flags = arguments
        if isinstance(path, str | bytes | os.PathLike) and (flags or 0) & _WRITING:
            _note(event, path, -1)
    elif event in _CHANGES:
        paths, folders = _CHANGES[event]
        for place, path in enumerate(paths):
            base = arguments[folders[min(place, len(folders) - 1)]] if folders else -1
            _note(event, arguments[path], base)
    elif event in _STARTS:
        _note(event, repr(arguments)[:80], -1)


def _note(event: str, path, folder: int) -> None:
    name = os.fsdecode(path) if not isinstance(path, int) else os.readlink(f"/proc/self/fd/{path}")
    # As SQLite names a file and how it is opened.
    name = name.removeprefix("file:").partition("?")[0]
    if isinstance(folder, int) and folder >= 0 and not os.path.isabs(name):
        name = os.path.join(os.readlink(f"/proc/self/fd/{folder}"), name)
    place = os.path.realpath(os.path.dirname(os.path.abspath(name)))
    for seen in _listening:
        seen.append(f"{event} {os.path.join(place, os.path.basename(name))}")
