"""A disk that fails once: every open, read, write, fsync, rename, look and lock below the cache in turn."""

import builtins
import errno
import fcntl
import io
import json
import mmap
import os
import shutil
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from unittest.mock import patch

import numpy as np

from dntk_core.base.errors import DNTKError
from dntk_core.base.spec import ModelSpec, ProjectionSpec, RunSpec
from dntk_core.base.stages import STAGES, stage_key
from dntk_core.cache.index import Index
from dntk_core.cache.shards import Shards, shards_of
from dntk_core.cache.store import Store
from dntk_core.cache.workbench import Workbench
from dntk_core.run.notes import Notes, read_notes, write_notes
from dntk_core.run.pipeline import collect_garbage, delete_run, open_run, runs
from dntk_core.run.series import Series, all_series, keep_series

KEPT = ("artifacts", "notes", "series", "damaged")
ERRNOS = ("EIO", "ENOSPC", "EMFILE", "EACCES", "ESTALE", "EINTR", "ENOLCK")
CALLS = (
    "open",
    "stat",
    "lstat",
    "fstat",
    "mkdir",
    "rename",
    "link",
    "replace",
    "unlink",
    "rmdir",
    "listdir",
    "scandir",
    "fsync",
    "preadv",
)

SPEC = RunSpec.default()
OTHER = replace(SPEC, projection=ProjectionSpec(k=7))
NEW = replace(SPEC, projection=ProjectionSpec(k=9))
BEGUN = replace(SPEC, model=ModelSpec(seed=3))
SERIES = Series(("a", "b"), (0.0, 1.0), (SPEC, OTHER))


class Failing:
    """An open file whose reads and writes count as calls, too."""

    def __init__(self, file, count: Callable[[str], None]):
        self._file, self._count = file, count

    def __getattr__(self, name: str):
        found = getattr(self._file, name)
        if name not in ("read", "readinto", "write", "flush"):
            return found

        def called(*arguments):
            self._count(name)
            return found(*arguments)

        return called

    def __enter__(self):
        self._file.__enter__()
        return self

    def __exit__(self, *rest):
        return self._file.__exit__(*rest)

    def __iter__(self):
        return iter(self._file)


@contextmanager
def failing(root: Path, at: int, code: int) -> Iterator[Counter]:
    """Let the call number `at` that concerns a file below a folder fail; yields how many calls there were, by name."""
    below, counts = str(root), Counter()

    def count(name: str) -> None:
        counts[name] += 1
        if counts.total() == at + 1:
            raise OSError(code, os.strerror(code))

    def ours(target: object) -> bool:
        try:
            if hasattr(target, "fileno"):
                target = target.fileno()
            if isinstance(target, int):
                target = os.readlink(f"/proc/self/fd/{target}") if target >= 0 else ""
            return os.fsdecode(target).startswith(below)
        except (TypeError, ValueError, OSError):
            return False

    def counted(name: str, real: Callable) -> Callable:
        def called(target=".", *rest, **more):
            # A name relative to an open folder is below that.
            folder = more.get("dir_fd")
            if ours(target if folder is None else folder):
                count(name)
            return real(target, *rest, **more)

        return called

    def opened(real: Callable) -> Callable:
        def called(target, *rest, **more):
            if not ours(target):
                return real(target, *rest, **more)
            count("open")
            return Failing(real(target, *rest, **more), count)

        return called

    def mapped(real: Callable) -> Callable:
        def called(handle, *rest, **more):
            if ours(handle):
                count("mmap")
            return real(handle, *rest, **more)

        return called

    with ExitStack() as stack:
        for name in CALLS:
            stack.enter_context(patch.object(os, name, counted(name, getattr(os, name))))
        stack.enter_context(patch.object(fcntl, "flock", counted("flock", fcntl.flock)))
        stack.enter_context(patch.object(mmap, "mmap", mapped(mmap.mmap)))
        stack.enter_context(patch.object(io, "open", opened(io.open)))
        stack.enter_context(patch.object(builtins, "open", opened(builtins.open)))
        yield counts


def stage_contents(stage: str) -> tuple[dict, dict]:
    """Small contents with all that is read of a stage later."""
    notes = {"test_accuracy": 0.5, "class_names": ["a", "b"], "n": 2, "parameters": 3, "projection_error": {}}
    notes |= {"judgements": [], "names": []}
    held = STAGES[stage].holds
    arrays = {name: np.arange(6.0).reshape(2, 3) for name in held if name not in notes and "." not in name}
    raw = {name: b"weights" for name in held if "." in name}
    return arrays | raw, {name: value for name, value in notes.items() if name in held} | {"seconds": 1.0}


def in_shards(bench: Workbench, name: str) -> Shards:
    """An array (2, 4, 3) in two shards, which become the artifact's files."""
    parts = {f"{name}-{start}": np.full((2, 2, 3), float(start)) for start in (0, 2)}
    return shards_of([shard["x"] for shard in bench.collect(list(parts), lambda part: {"x": parts[part]})])


def finish(store: Store, spec: RunSpec, stages: tuple[str, ...] = ()) -> None:
    """Compute a run of small arrays, one stage after the other, each by way of a shard; gradients stay in theirs."""
    Index(store).begin(spec)
    for stage in stages or spec.stages:

        def build(bench, stage=stage):
            bench.shard("part", lambda: {"x": np.ones(4)})
            contents, note = stage_contents(stage)
            if stage == "features":
                contents |= {name: in_shards(bench, name) for name in ("features", "test_features")}
            return contents, note

        store.load_or_build(stage, spec.stage_key(stage), spec.to_json(), build, holds=STAGES[stage].holds)


def look(store: Store) -> None:
    """List the runs and series, open one run, and look at all of it."""
    runs(store)
    all_series(store)
    run = open_run(SPEC.key, store)
    read_notes(run.key, store)
    for artifact in run.artifacts.values():
        for name in artifact.meta["files"]:
            artifact[name.removesuffix(".npy")] if name.endswith(".npy") else artifact.read(name)
    np.asarray(run.features[0]), np.asarray(run.test_features)


RUNS = {SPEC.key, OTHER.key, BEGUN.key}
AGAIN = replace(SERIES, times=(0.0, 2.0))
# What a person does, and which runs are there in the end.
ACTIONS: dict[str, tuple[Callable[[Store], object], set[str]]] = {
    "open a run": (look, RUNS),
    "list runs": (runs, RUNS),
    "compute a run": (lambda store: finish(store, NEW), RUNS | {NEW.key}),
    "keep a series": (
        lambda store: keep_series(replace(SERIES, times=(0.0, 2.0)), store),
        {SPEC.key, OTHER.key, BEGUN.key},
    ),
    "note a run": (lambda store: write_notes(SPEC.key, Notes("new"), store), RUNS),
    "delete a run": (lambda store: delete_run(OTHER.key, store), {SPEC.key, BEGUN.key}),
    "collect garbage": (collect_garbage, RUNS),
}


@dataclass
class Tally:
    """What came of it all."""

    injected: int = 0
    recovered: int = 0
    lost: list[str] = field(default_factory=list)
    uncaught: list[str] = field(default_factory=list)
    calls: Counter = field(default_factory=Counter)


def prepare(folder: Path) -> Path:
    """A cache with two finished runs that share a network, one that was begun, and what nobody needs any more."""
    store = Store(folder / "sound")
    for spec in (SPEC, OTHER):
        finish(store, spec)
    finish(store, BEGUN, ("model",))
    write_notes(SPEC.key, Notes("old"), store)
    keep_series(SERIES, store)
    added = {"features_key": OTHER.stage_key("features")}
    store.load_or_build("also", "added", OTHER.to_json(), lambda bench: (stage_contents("model")[0], added))
    store.load_or_build("model", "unneeded", SPEC.to_json(), lambda bench: stage_contents("model"))
    for left in (f"scratch/model-killed-{'0' * 32}", "damaged/model-k", f"partial/model-killed-{'0' * 32}"):
        (store.root / left).mkdir(parents=True)
        (store.root / left / "part").write_bytes(b"left")
    runs(store)
    return store.root


def contents(root: Path) -> dict[str, bytes]:
    """Every file that may not be lost: of artifacts, notes, series, what was set aside; but for times."""
    found = {}
    for path in sorted(path for kind in KEPT for path in (root / kind).rglob("*")):
        if path.is_file():
            content = path.read_bytes()
            if path.name == "meta.json":
                meta = json.loads(content)
                content = json.dumps([meta[name] for name in ("stage", "key", "spec", "note", "files")]).encode()
            if path.parent.name == "series":
                content = json.dumps(json.loads(content)["specs"]).encode()
            found[str(path.relative_to(root))] = content
    return found


def _state(root: Path) -> tuple:
    """Every file but those of the listing, by name, place on the disk, size and time."""
    found = []
    for place, _, names in os.walk(root):
        for name in names if not place.endswith("/index") else ():
            status = os.lstat(os.path.join(place, name))
            found.append((place, name, status.st_ino, status.st_size, status.st_mtime_ns))
    return tuple(sorted(found))


def strike(folder: Path, sound: Path, action: str, codes: tuple[str, ...], every: int, tally: Tally) -> None:
    """Fail at every call of an action in turn, then do it again undisturbed: it must end as if nothing had happened."""
    # Keys are computed from specs alone, and thousands of times.
    with patch("dntk_core.base.spec.stage_key", lru_cache(stage_key)):
        _strike(folder, sound, action, codes, every, tally)


def _strike(folder: Path, sound: Path, action: str, codes: tuple[str, ...], every: int, tally: Tally) -> None:
    act, _ = ACTIONS[action]
    root = folder / "struck"

    state: tuple = ()

    def fresh() -> Store:
        nonlocal state
        if not state or _state(root) != state:
            shutil.rmtree(root, ignore_errors=True)
            shutil.copytree(sound, root, symlinks=True)
            state = _state(root)
        return Store(root)

    store = fresh()
    with failing(root, -1, 0) as counts:
        act(store)
    wanted, total = contents(root), counts.total()
    tally.calls += counts
    kept = {name: (content, wanted[name]) for name, content in contents(sound).items() if name in wanted}
    for at in range(0, total, every):
        for code in codes:
            store = fresh()
            try:
                with failing(root, at, getattr(errno, code)) as counts, warnings.catch_warnings(action="ignore"):
                    act(store)
            except DNTKError:
                pass
            except BaseException as error:
                tally.uncaught.append(f"{action}, call {at}, {code}: {type(error).__name__}: {error}")
            if counts.total() <= at:
                # It took fewer calls this time.
                continue
            tally.injected += 1
            if _state(root) == state:
                # The disk is as it was before: so is all that can come of it.
                tally.recovered += 1
                continue
            after = contents(root)
            gone = [name for name, either in kept.items() if after.get(name) not in either]
            tally.lost += [f"{action}, call {at}, {code}: {name}" for name in gone]
            _recover(root, action, act, wanted, f"{action}, call {at}, {code}", tally)


def _recover(root: Path, action: str, act: Callable, wanted: dict, where: str, tally: Tally) -> None:
    store = Store(root)
    try:
        # What was deleted before the fault is not there to be deleted again.
        if action != "delete a run" or OTHER.key in {info.key for info in runs(store)}:
            act(store)
        else:
            collect_garbage(store)
        if contents(root) == wanted and {info.key for info in runs(store)} == ACTIONS[action][1]:
            tally.recovered += 1
    except Exception as error:
        tally.uncaught.append(f"{where}, again: {type(error).__name__}: {error}")
