"""What people say of a run: a name, tags, a note, a star, and views to come back to; a small file each."""

import json
import os
import re
import uuid
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from dntk_core.base.errors import Damaged, DNTKError, Vanished
from dntk_core.cache.disk import reading, writing
from dntk_core.cache.files import read_json, write
from dntk_core.cache.folder import make_folders
from dntk_core.cache.sealed import check_seal, sealed
from dntk_core.cache.store import Store

# The most that is kept of each.
NAME, NOTE, TAGS, TAG, VIEWS, LINK = 80, 2000, 12, 30, 50, 4000
_KEY = re.compile(r"[0-9a-f]{8,64}")


@dataclass(frozen=True)
class Notes:
    """views: by name, the page and the parameters of its link."""

    name: str = ""
    tags: tuple[str, ...] = ()
    note: str = ""
    star: bool = False
    views: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    def __post_init__(self):
        views, links = list(self.views), [json.dumps(dict(each)) for each in self.views.values()]
        sizes = {
            f"a name has at most {NAME} characters": len(self.name) <= NAME,
            f"a note has at most {NOTE:,} characters": len(self.note) <= NOTE,
            f"a run has at most {TAGS} tags": len(self.tags) <= TAGS,
            f"a tag has 1 to {TAG} characters": all(0 < len(tag) <= TAG for tag in self.tags),
            f"a run has at most {VIEWS} saved views": len(views) <= VIEWS,
            f"a view's name has 1 to {NAME} characters": all(0 < len(name) <= NAME for name in views),
            "a view's link is too long": all(len(link) <= LINK for link in links),
        }
        broken = [rule for rule, holds in sizes.items() if not holds]
        if broken:
            raise DNTKError(f"{broken[0]}; shorten it")

    def with_view(self, name: str, link: Mapping[str, str]) -> "Notes":
        """Save a view, in the place of one of the same name."""
        return replace(self, views={**self.views, name: dict(link)})

    def without_view(self, name: str) -> "Notes":
        """Forget a view."""
        return replace(self, views={each: link for each, link in self.views.items() if each != name})


def read_notes(key: str, store: Store | None = None) -> Notes:
    """What is said of a run; nothing where nothing is, or where it is damaged."""
    try:
        return _read((store or Store()).root / "notes", key) if _KEY.fullmatch(key) else Notes()
    # Not what cannot be read now: whoever adds a word to nothing would overwrite all that was said.
    except (Damaged, Vanished):
        return Notes()


def write_notes(key: str, notes: Notes, store: Store | None = None) -> None:
    """Keep what is said of a run, all of it or nothing; what is there and damaged is set aside."""
    if not _KEY.fullmatch(key):
        raise DNTKError(f"{key[:40]!r} is no key of a run")
    root = (store or Store()).root
    make_folders(root)
    folder = root / "notes"
    with writing(root):
        folder.mkdir(exist_ok=True, mode=0o700)
    try:
        _read(folder, key)
    except Vanished:
        pass
    except Damaged:
        with writing(root):
            (root / "damaged").mkdir(exist_ok=True, mode=0o700)
            os.replace(folder / f"{key}.json", root / "damaged" / f"notes-{key}-{uuid.uuid4().hex}")
    write(folder, f"{key}.json", json.dumps(sealed(json.loads(json.dumps(asdict(notes))))).encode())


def _read(folder: Path, key: str) -> Notes:
    with reading(folder):
        found = read_json(folder / f"{key}.json")
    check_seal(found)
    return _parsed(found)


def _parsed(found: dict) -> Notes:
    try:
        views = {str(name): {str(k): str(v) for k, v in link.items()} for name, link in found["views"].items()}
        tags = tuple(map(str, found["tags"]))
        return Notes(str(found["name"]), tags, str(found["note"]), bool(found["star"]), views)
    except (KeyError, TypeError, AttributeError, DNTKError):
        raise Damaged("its notes have an unknown form") from None
