"""Which files a page may open: those below the folders that the server's owner has named."""

import os
import stat
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from math import inf
from pathlib import Path

from dntk_core.base.errors import DNTKError
from dntk_core.base.spec import RunSpec
from dntk_core.base.text import is_line

LONGEST_NAME, LONGEST_PATH = 255, 1024
# Files that a page looks at to see whether one leads elsewhere, and to offer some.
MOST_FILES, MOST_OFFERED, DEEPEST = 5_000_000, 200, 3
# Sources that only read what lies at their path; the others download to it.
READING = ("folder", "npz", "hf")
VOCABULARIES = (".txt", ".json")
WEIGHTS = (".safetensors", ".pth", ".pt")


def resolve(text: str, roots: Sequence[Path]) -> Path:
    """Find what a person names below one of the roots; whatever leads elsewhere is refused in one sentence."""
    parts = Path(text).parts
    if len(text) > LONGEST_PATH or any(len(part.encode(errors="replace")) > LONGEST_NAME for part in parts):
        raise DNTKError(f"the name of a file is at most {LONGEST_PATH} characters long, a part of it {LONGEST_NAME}")
    if not parts or not is_line(text, LONGEST_PATH):
        raise DNTKError("the name of a file is plain text on one line")
    if Path(text).is_absolute() or ".." in parts or parts[0].startswith("~"):
        raise DNTKError(f"{text!r} must be given below the server's folders, without .. and no leading /")
    for root in roots:
        if os.path.lexists(root / text):
            return _inside(root / text, [root])
    raise DNTKError(f"there is no {text!r} below the folders that this server was started with")


def check(spec: RunSpec, roots: Sequence[Path]) -> None:
    """Refuse a run that would open a file elsewhere, or write to where its data lie."""
    data, model = spec.data, spec.model
    if data.path and data.name not in READING:
        raise _elsewhere(f"the dataset {data.name!r} is not read from {data.path!r}")
    try:
        if data.path:
            _check_links(_inside(Path(data.path), roots))
        if data.vocabulary:
            _inside(Path(data.vocabulary), roots)
        if model.weights and not model.published:
            weights = _inside(Path(model.weights), roots)
            _check_links(weights)
    except DNTKError as error:
        raise _elsewhere(str(error)) from None


def below(path: str, roots: Sequence[Path]) -> str:
    """A path as a person names it, below one of the roots; empty if it lies elsewhere."""
    for root in roots:
        if Path(path).is_relative_to(root):
            return str(Path(path).relative_to(root))
    return ""


def datasets(roots: Sequence[Path]) -> list[str]:
    """Some class folders and .npz files below the roots, by name."""
    return _some(roots, lambda entry: _is_file(entry, ".npz") or os.path.isdir(os.path.join(entry.path, "train")))


def vocabularies(roots: Sequence[Path]) -> list[str]:
    """Some vocabulary files below the roots, by name."""
    return _some(roots, lambda entry: _is_file(entry, VOCABULARIES))


def weights(roots: Sequence[Path]) -> list[str]:
    """Some weights files below the roots, by name."""
    return _some(roots, lambda entry: _is_file(entry, WEIGHTS))


def _inside(path: Path, roots: Sequence[Path]) -> Path:
    """Where a path really leads: to a file or folder below a root, else DNTKError."""
    try:
        real = Path(os.path.realpath(path, strict=True))
        kind = real.stat().st_mode
    except (OSError, ValueError):
        raise DNTKError(f"{str(path)!r} cannot be opened") from None
    if not any(real.is_relative_to(os.path.realpath(root)) for root in roots):
        raise DNTKError(f"{str(path)!r} does not lie below the folders that this server was started with")
    if not stat.S_ISREG(kind) and not stat.S_ISDIR(kind):
        raise DNTKError(f"{str(path)!r} is neither a file nor a folder")
    return real


def _check_links(folder: Path) -> None:
    """Refuse a dataset in which a link leads out of it: its files are followed when they are read."""
    for count, entry in enumerate(_entries(folder)):
        if count >= MOST_FILES:
            raise DNTKError(f"{str(folder)!r} holds more than {MOST_FILES:,} files")
        if entry.is_symlink() and not Path(os.path.realpath(entry.path)).is_relative_to(folder):
            raise DNTKError(f"the link {entry.path!r} leads out of its dataset")


def _entries(folder: str | Path, deepest: float = inf) -> Iterator[os.DirEntry]:
    """All that lies below a folder, what is near first, links not followed."""
    waiting = deque([(folder, 1)])
    while waiting:
        place, depth = waiting.popleft()
        try:
            with os.scandir(place) as found:
                for entry in found:
                    yield entry
                    if depth < deepest and entry.is_dir(follow_symlinks=False):
                        waiting.append((entry.path, depth + 1))
        except OSError:
            continue


def _is_file(entry: os.DirEntry, suffixes: str | tuple[str, ...]) -> bool:
    return entry.name.endswith(suffixes) and entry.is_file(follow_symlinks=False)


def _some(roots: Sequence[Path], fits: Callable[[os.DirEntry], bool]) -> list[str]:
    """The first entries that fit; a look at a large disk is short."""
    found = []
    for root in roots:
        for count, entry in enumerate(_entries(root, DEEPEST)):
            if count >= 100 * MOST_OFFERED or len(found) >= MOST_OFFERED:
                break
            if not entry.is_symlink() and fits(entry):
                found.append(below(entry.path, [root]))
    return sorted(found)


def _elsewhere(why: str) -> DNTKError:
    return DNTKError(
        f"{why}; compute this run on the command line (python -m dntk_core build), or name the folder when the "
        "server is started (streamlit run app.py -- --root <folder>)"
    )
