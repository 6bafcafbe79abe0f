"""Which runs there are: one small file for each run begun, and the finished artifacts, each of which carries its spec.

The listing only spares opening them.
"""

import json
import os
import time
import uuid
from dataclasses import dataclass
from typing import Any

import numpy as np

from dntk_core.base.errors import Damaged, DNTKError, Vanished
from dntk_core.base.spec import RunSpec
from dntk_core.base.stages import kept_of
from dntk_core.cache.artifact import try_meta
from dntk_core.cache.disk import is_folder, is_there, reading, writing
from dntk_core.cache.files import read_json, write
from dntk_core.cache.folder import make_folders, names
from dntk_core.cache.listing import Listing
from dntk_core.cache.sealed import check_seal, sealed
from dntk_core.cache.store import Store

# The last second that calendars can show.
LATEST = 253_402_214_400

# Stages beside those of a run: each notes a key under a name, and is kept as long as the stage of that key.
BESIDE = {
    "also": ("features_key", "features"),
    "analysed": ("features_key", "features"),
    "across": ("last", "kernels"),
}


@dataclass(frozen=True)
class RunInfo:
    """A run in the cache: finished, or begun and to be resumed. Times are seconds since 1970.

    accuracy: the network's own on the test inputs, None where it is not known
    """

    key: str
    spec: RunSpec
    bytes: int
    created: float
    finished: bool
    accuracy: float | None = None


@dataclass(frozen=True)
class Entry:
    """What is kept of a run: its spec as JSON, and when it was begun."""

    spec: str
    created: float

    def to_json(self) -> str:
        return json.dumps(sealed(vars(self)))


class Index:
    """The runs of a store."""

    def __init__(self, store: Store):
        self.store = store
        self.folder = store.root / "runs"
        self.listing = Listing(store.root)

    def begin(self, spec: RunSpec) -> None:
        """Add a run before its first stage, so that its stages are kept and it can be resumed."""
        self._settle()
        entry = Entry(spec.to_json(), time.time())
        with reading(self.folder):
            known = is_there(self.folder / f"{spec.key}.json")
        if not known or self._begun(spec.key) is None:
            write(self.folder, f"{spec.key}.json", entry.to_json().encode())
            self.listing.add({spec.key: entry.to_json()})

    def drop(self, key: str) -> None:
        """Forget a run; its last stage goes with it, else it would still be a finished one."""
        self._settle()
        # First what may be refused.
        self.store.delete("kernels", key)
        with writing(self.folder):
            (self.folder / f"{key}.json").unlink(missing_ok=True)
        self.listing.drop(key)

    def all(self) -> list[RunInfo]:
        """All runs, newest first; those that this version cannot read are left out."""
        rows, missed, found = self.listing.rows(), {}, []
        for key in self._keys(rows):
            entry = _entry(rows.get(key, ""))
            if (info := self._info(key, entry)) is None and (entry := self._read(key)) is not None:
                if (info := self._info(key, entry)) is not None:
                    missed[key] = entry.to_json()
            if info is not None:
                found.append(info)
        self.listing.add(missed)
        return sorted(found, key=lambda info: -info.created)

    def needed(self) -> set[tuple[str, str]]:
        """(stage, key) of all that runs are made of, by the files on disk alone; DNTKError if one cannot be read."""
        self._settle()
        found = {pair for key in self._keys({}) for pair in self._stages(key)}
        for stage, (noted, kept_with) in BESIDE.items():
            beside = [pair for pair in self.store.all() if pair[0] == stage]
            found |= {pair for pair in beside if (kept_with, self._noted(*pair, noted)) in found}
        return found

    def _noted(self, stage: str, key: str, name: str) -> str:
        """The key that an artifact has noted under a name; DNTKError if it cannot be read."""
        noted = self.store.note(stage, key).get(name)
        if not isinstance(noted, str):
            raise DNTKError(
                f"what {stage}-{key} belongs to cannot be read in {self.store.root}, so nothing was deleted; "
                f"remove artifacts/{stage}-{key} there yourself"
            )
        return noted

    def _stages(self, key: str) -> set[tuple[str, str]]:
        entry = self._read(key)
        if entry is None and key not in self._keys({}):
            # Deleted by another process since it was listed.
            return set()
        if entry is None or not (stages := _made_of(entry)):
            raise DNTKError(
                f"what the run {key} is made of cannot be read in {self.store.root}, so nothing was deleted; build it "
                f"again, or remove runs/{key}.json and artifacts/kernels-{key} there yourself"
            )
        return stages

    def _keys(self, rows: dict[str, str]) -> list[str]:
        """The keys of all runs on disk; of a cache from before there were files for runs, also those it listed."""
        with reading(self.store.root):
            begun = [name.removesuffix(".json") for name in names(self.folder) if name.endswith(".json")]
            old = not begun and not is_folder(self.folder)
        finished = [key for stage, key in self.store.all() if stage == "kernels"]
        return sorted({*begun, *finished, *(rows if old else ())})

    def _read(self, key: str) -> Entry | None:
        """What is known of a run: from its file, else from its last artifact; None if neither can be read."""
        if (entry := self._begun(key)) is not None:
            return entry
        meta = try_meta(self.store.artifact_folder("kernels", key))
        return Entry(meta["spec"], meta["created"]) if meta is not None else None

    def _begun(self, key: str) -> Entry | None:
        try:
            with reading(self.folder):
                return _checked(read_json(self.folder / f"{key}.json"))
        except (Damaged, Vanished):
            return None

    def _settle(self) -> None:
        """Give every run of an older cache a file of its own: those it listed, and the makers of what is left."""
        root = self.store.root
        with reading(root):
            if is_folder(self.folder):
                return
        entries = {key: entry for key, text in self.listing.rows().items() if (entry := _entry(text)) is not None}
        makers = [try_meta(self.store.artifact_folder(*pair)) for pair in self.store.all()]
        kept: set[tuple[str, str]] = set()
        # Whole runs first: of these a maker that was deleted since does not come back.
        for entry in [*entries.values(), *(_of(meta) for meta in makers if meta and meta["stage"] == "kernels")]:
            kept |= _made_of(entry)
        for meta in makers:
            if meta is not None and (meta["stage"], meta["key"]) not in kept and _made_of(_of(meta)):
                entries[RunSpec.from_json(meta["spec"]).key] = _of(meta)
                kept |= _made_of(_of(meta))
        with writing(root):
            root.mkdir(parents=True, exist_ok=True, mode=0o700)
            (root / "scratch").mkdir(exist_ok=True, mode=0o700)
            fresh = root / "scratch" / f"runs-{uuid.uuid4().hex}"
            fresh.mkdir(mode=0o700)
            for key, entry in entries.items():
                write(fresh, f"{key}.json", entry.to_json().encode())
            try:
                os.rename(fresh, self.folder)
            except OSError:
                # Another process has done the same.
                if not is_folder(self.folder):
                    raise
        make_folders(root)

    def _info(self, key: str, entry: Entry | None) -> RunInfo | None:
        if entry is None:
            return None
        try:
            spec = RunSpec.from_json(entry.spec)
        except DNTKError:
            return None
        if spec.key != key:
            return None
        # Clocks jump; a date is only shown.
        created = float(np.clip(np.nan_to_num(entry.created), 0, LATEST))
        sizes = {stage: self.store.size(stage, spec.stage_key(stage)) for stage in kept_of(spec)}
        return RunInfo(key, spec, sum(sizes.values()), created, sizes["kernels"] > 0, self._accuracy(spec))

    def _accuracy(self, spec: RunSpec) -> float | None:
        """As noted with the kernels, or, by earlier versions, with the network."""
        notes = (self.store.note(stage, spec.stage_key(stage)) for stage in ("kernels", spec.network_stage))
        noted = (note.get("test_accuracy") for note in notes)
        return next((value for value in noted if isinstance(value, float)), None)


def _of(meta: dict) -> Entry:
    return Entry(meta["spec"], meta["created"])


def _made_of(entry: Entry) -> set[tuple[str, str]]:
    """(stage, key) of what a run is made of; nothing if this version does not read its spec."""
    try:
        spec = RunSpec.from_json(entry.spec)
    except DNTKError:
        return set()
    return {(stage, spec.stage_key(stage)) for stage in kept_of(spec)}


def _entry(text: str) -> Entry | None:
    """An entry from a row of the listing, None if it is anything else."""
    try:
        return _checked(json.loads(text))
    except (ValueError, RecursionError):
        return None


def _checked(document: Any) -> Entry:
    """Read an entry by its schema; Damaged if it does not fit."""
    if not isinstance(document, dict) or not {"spec", "created"} <= set(document) <= {"spec", "created", "sha256"}:
        raise Damaged("a run's entry has unknown or missing fields")
    check_seal(document)
    if type(document["spec"]) is not str or type(document["created"]) not in (int, float):
        raise Damaged("a run's entry has an unknown form")
    try:
        return Entry(document["spec"], float(document["created"]))
    except OverflowError:
        raise Damaged("a run's entry has an unknown form") from None
