"""Runs of one network on its way through training: one checkpoint after another, same inputs, same projection."""

import hashlib
import json
import re
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from glob import glob
from itertools import pairwise
from pathlib import Path

from dntk_core.base.errors import DNTKError, Unreadable
from dntk_core.base.parts import LAST
from dntk_core.base.spec import RunSpec
from dntk_core.cache.disk import reading, writing
from dntk_core.cache.files import read_json, write
from dntk_core.cache.folder import make_folders, names
from dntk_core.cache.sealed import check_seal, sealed
from dntk_core.cache.store import Store
from dntk_core.run.pinning import pin

# A series of more is a mistake in a pattern.
MOST = 200
FOLDER = "series"


@dataclass(frozen=True)
class Series:
    """T checkpoints: what each is called, when in training it was (epochs, or places), and the run of each."""

    labels: tuple[str, ...]
    times: tuple[float, ...]
    specs: tuple[RunSpec, ...]

    def __post_init__(self):
        sizes = {len(self.labels), len(self.times), len(self.specs)}
        if len(sizes) > 1 or not 2 <= len(self.specs) <= MOST:
            raise DNTKError(f"a series has 2 to {MOST} checkpoints, got {len(self.specs)}")
        if any(spec.sketch.used for spec in self.specs):
            raise DNTKError("a series compares the gradients of every class; leave --class-sketch out")
        if any(after <= before for before, after in pairwise(self.times)):
            raise DNTKError("the checkpoints of a series must follow each other in time")
        if len(set(self.keys)) < len(self.keys):
            raise DNTKError("two checkpoints of the series are the same network; leave one of them out")

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys of its runs."""
        return tuple(spec.key for spec in self.specs)

    @property
    def key(self) -> str:
        """The key of the series: all that its runs are, in order."""
        return hashlib.sha256(json.dumps([self.keys, self.times]).encode()).hexdigest()[:20]

    @property
    def title(self) -> str:
        """The series in one line."""
        first, last = self.labels[0], self.labels[-1]
        return f"{len(self.specs)} checkpoints from {first} to {last} · {self.specs[-1].summary}"


def default_series() -> Series:
    """The embedded network on its way: eight checkpoints on fewer inputs than the embedded run, to be quick."""
    base = RunSpec.default()
    few = replace(
        base,
        inputs=replace(base.inputs, kernel=200, test=200),
        projection=replace(base.projection, k=1024),
    )
    return trained_series(few, DEFAULT_EPOCHS)


# Training changes the kernel most at its start.
DEFAULT_EPOCHS = (0, 1, 2, 3, 4, 6, 8, 12)


def trained_series(spec: RunSpec, epochs: Sequence[int]) -> Series:
    """The checkpoints after some epochs of a run's own training; the last epoch's is the network that it leaves."""
    model = spec.model
    if model.weights or spec.from_python:
        raise DNTKError("this network was not trained here; a series of it needs its weights as files: --weights")
    keep = ",".join(map(str, epochs))
    # Checked as all kept epochs are.
    kept = replace(model, keep=keep).kept
    at = [replace(spec, model=replace(model, keep=keep, at=epoch)) for epoch in kept if epoch < model.epochs]
    ends = [replace(spec, model=replace(model, keep="", at=LAST))] if model.epochs in kept else []
    return Series(tuple(f"epoch {epoch}" for epoch in kept), tuple(map(float, kept)), tuple(map(pin, [*at, *ends])))


def epochs_of(spec: RunSpec) -> tuple[int, ...]:
    """Some eight epochs of a training, the more the earlier."""
    last = spec.model.epochs
    return tuple(sorted({min(last, round(share**2 * last)) for share in (0, 0.29, 0.41, 0.5, 0.58, 0.71, 0.82, 1)}))


def weights_series(spec: RunSpec, pattern: str) -> Series:
    """The checkpoints in the files that a pattern matches, in the order of the numbers in their names."""
    files = sorted((Path(name) for name in glob(pattern)), key=lambda path: _natural(path.name))
    if not files:
        raise DNTKError(f"no file matches {pattern!r}; put it in quotation marks, as 'epoch-*.safetensors'")
    if not 2 <= len(files) <= MOST:
        raise DNTKError(f"a series has 2 to {MOST} checkpoints; {pattern!r} matches {len(files)}")
    _check_alike(files)
    specs = (
        pin(replace(spec, model=replace(spec.model, weights=str(path), fingerprint="", keep="", at=LAST)))
        for path in files
    )
    return Series(tuple(path.stem for path in files), _times(files), tuple(specs))


def keep_series(series: Series, store: Store | None = None) -> None:
    """Write a series down, so that it is listed and can be resumed."""
    root = (store or Store()).root
    make_folders(root)
    folder = root / FOLDER
    with writing(root):
        folder.mkdir(exist_ok=True, mode=0o700)
    if find_series(series.key, store) is None:
        document = {"labels": series.labels, "times": series.times, "created": time.time()}
        document |= {"specs": [spec.to_json() for spec in series.specs]}
        write(folder, f"{series.key}.json", json.dumps(sealed(json.loads(json.dumps(document)))).encode())


def all_series(store: Store | None = None) -> list[Series]:
    """All series that were begun, newest first; what this version cannot read is left out."""
    folder = (store or Store()).root / FOLDER
    with reading(folder.parent):
        keys = [name.removesuffix(".json") for name in names(folder) if name.endswith(".json")]
    found = filter(None, (_read(folder, key) for key in keys))
    return [series for _, series in sorted(found, key=lambda pair: -pair[0])]


def find_series(key: str, store: Store | None = None) -> Series | None:
    """A series by its key, None if there is none that can be read."""
    found = _read((store or Store()).root / FOLDER, key)
    return found and found[1]


def begun_series(key: str, store: Store | None = None) -> Series:
    """Look a series up by the start of its key."""
    found = [each for each in all_series(store) if each.key.startswith(key)]
    if len(found) != 1:
        which = "no series" if not found else f"{len(found)} series"
        raise DNTKError(f"{which} in the cache with a key that starts with {key!r}; `runs` lists them")
    return found[0]


def series_with(run: str, store: Store | None = None) -> list[Series]:
    """The series that a run belongs to."""
    return [series for series in all_series(store) if run in series.keys]


def drop_series(key: str, store: Store | None = None) -> None:
    """Forget a series; its runs stay."""
    folder = (store or Store()).root / FOLDER
    if find_series(key, store) is not None:
        with writing(folder):
            (folder / f"{key}.json").unlink(missing_ok=True)


def _read(folder: Path, key: str) -> tuple[float, Series] | None:
    """When a series was begun, and the series; None if it is not there or damaged, Unreadable if it cannot be read."""
    try:
        with reading(folder):
            found = read_json(folder / f"{key}.json")
        check_seal(found)
        specs = tuple(RunSpec.from_json(text) for text in found["specs"])
        series = Series(tuple(map(str, found["labels"])), tuple(map(float, found["times"])), specs)
        return (float(found["created"]), series) if series.key == key else None
    except Unreadable:
        raise
    except (DNTKError, KeyError, TypeError, ValueError, OverflowError):
        return None


def _check_alike(files: Sequence[Path]) -> None:
    """Refuse weights of two architectures before anything is computed."""
    # Loading torch takes seconds; listing series does without.
    from dntk_core.models.checkpoints import read_state

    shapes = [{name: tuple(value.shape) for name, value in read_state(path).items()} for path in files]
    for path, found in zip(files, shapes, strict=True):
        if found != shapes[0]:
            differ = sorted(name for name in {*found, *shapes[0]} if found.get(name) != shapes[0].get(name))
            raise DNTKError(
                f"{path.name} holds weights of another architecture than {files[0].name}: they differ in "
                f"{', '.join(differ[:3])}; a series is of one network"
            )


def _times(files: Sequence[Path]) -> tuple[float, ...]:
    """The last number in every name, if they have one and it grows; else 0, 1, 2, …"""
    numbers = [[int(number) for number in re.findall(r"\d+", path.stem)] for path in files]
    last = [found[-1] for found in numbers if found]
    growing = len(last) == len(files) and all(a < b for a, b in pairwise(last))
    return tuple(map(float, last if growing else range(len(files))))


def _natural(name: str) -> list[tuple[int, int | str]]:
    """Order names by their numbers: epoch-9 before epoch-10."""
    return [(0, int(part)) if part.isdigit() else (1, part) for part in re.split(r"(\d+)", name) if part]
