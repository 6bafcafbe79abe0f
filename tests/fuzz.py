"""What a stranger may hand in, made up at random: links, specs, manifests, shards, index entries, exports.

Each target takes an input and says whether it was accepted; it may raise nothing but DNTKError.
"""

import hashlib
import io
import json
import re
import warnings
from collections import Counter
from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import strategies as st
from safetensors.numpy import save_file

from dntk_core.base import schema
from dntk_core.base.errors import DNTKError
from dntk_core.base.spec import ProjectionSpec, RunSpec
from dntk_core.cache import files, index
from dntk_core.cache.artifact import LAYOUT, Artifact, read_meta
from dntk_core.cache.files import described, read_json
from dntk_core.cache.index import Index, _checked
from dntk_core.cache.listing import _READ, Listing
from dntk_core.cache.sealed import check_seal, sealed
from dntk_core.cache.shards import shards_of
from dntk_core.cache.store import Store
from dntk_core.cache.workbench import Workbench
from dntk_core.dashboard.choices.controls import CONTROLS, Limits
from dntk_core.dashboard.choices.view import View, link, restore
from dntk_core.dashboard.drawing import literal
from dntk_core.run import export
from dntk_core.run.export import FORMAT, VERSION, _describe, load_distilled
from dntk_core.run.pipeline import open_run

PATHS = (
    "../../x",
    "/etc/passwd",
    "..",
    ".",
    "",
    "a/b",
    "a\0b",
    "x" * 5000,
    "\ud800",
    "~/x",
    "C:\\x",
    "meta.json",
    "folder",
)
NUMBERS = (0, -1, 2**63, 10**400, 1e308, float("inf"), float("nan"), True, None)
odd = st.sampled_from([*PATHS, *NUMBERS])
texts = st.text(max_size=20) | st.sampled_from(PATHS)
values = st.recursive(
    odd | st.booleans() | st.integers() | st.floats() | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=5,
)
KEPT = np.arange(6.0)
HALF = np.ones((2, 2, 3))
LIMITS = Limits(60, ("cat", "dog"))


@dataclass(frozen=True)
class Target:
    """Something that takes what strangers hand in.

    inputs: what is handed in; prepare: given a cache folder, returns what takes an input, True if it accepts it
    parser: the functions that the inputs must reach
    """

    inputs: st.SearchStrategy
    prepare: Callable[[Path], Callable[[Any], bool]]
    parser: tuple[Callable, ...]


def places(document, at=()) -> list[tuple]:
    """Where something stands in a JSON document."""
    inner = dict(enumerate(document)) if isinstance(document, list) else document
    parts = inner.items() if isinstance(inner, dict) else ()
    return [at, *(place for key, part in parts for place in places(part, (*at, key)))]


def replaced(document, place: tuple, change):
    """The document with `change` made at a place."""
    if not place:
        return change(document)
    inner = dict(document) if isinstance(document, dict) else list(document)
    inner[place[0]] = replaced(inner[place[0]], place[1:], change)
    return inner


def put(part, kind: str, name: str, value, number: int):
    """What stands in a part's stead: one like it, anything, or the part with a field more or another name."""
    if kind == "like" and isinstance(part, str | int | float):
        return type(part)(name if isinstance(part, str) else number)
    if kind == "add" and isinstance(part, dict):
        return part | {name: value}
    if kind == "rename" and isinstance(part, dict) and part:
        first = next(iter(part))
        return {name if key == first else key: inner for key, inner in part.items()}
    return value


def changed(document) -> st.SearchStrategy:
    """A JSON document with a few of its parts replaced, added or renamed, or cut as text."""

    kinds = st.sampled_from(["like", "like", "put", "add", "rename"])
    steps = st.lists(st.tuples(st.integers(0, 10**6), kinds, texts, values, st.integers(0, 100)), max_size=3)

    def apply(steps):
        result = document
        for at, *step in steps:
            spots = places(result)
            result = replaced(result, spots[at % len(spots)], lambda part, step=step: put(part, *step))
        return json.dumps(result)

    whole = steps.map(apply)
    cut = st.tuples(whole, st.integers(0, 400)).map(lambda pair: pair[0][: -pair[1]])
    deep = st.integers(1, 10**5).map(lambda depth: "[" * depth)
    return whole | whole | cut | deep | texts | values.map(json.dumps)


def sealing(document) -> st.SearchStrategy:
    """A sealed document changed, under the seal it had or under one that fits what it says now; or with none."""
    return changed(sealed(document)) | changed(document).map(resealed) | changed(document)


def resealed(text: str) -> str:
    try:
        return json.dumps(sealed(json.loads(text)))
    except (ValueError, RecursionError, AttributeError):
        return text


# Why inputs were refused, by the first words: what was tried reached as many places of the parser.
REASONS: Counter = Counter()


def refused(why: object) -> bool:
    """Note a refusal."""
    REASONS[" ".join(re.sub(r"'.*?'|[0-9]+|_.*|\S*/\S*", "", str(why)).split()[:8])] += 1
    return False


def softly(act: Callable[[], object]) -> bool:
    """Whether it was accepted; DNTKError is a refusal."""
    try:
        act()
    except DNTKError as error:
        return refused(error)
    return True


def take_links(folder: Path) -> Callable:
    store = Store(folder)

    def take(parameters: dict) -> bool:
        view, notices = restore(parameters, LIMITS)
        assert all(CONTROLS[name].allows(value, LIMITS) for name, value in view.items())
        for notice in notices:
            literal.markdown(notice).encode()
        for notice in notices:
            refused(notice)
        opened = "run" in parameters and softly(lambda: open_run(parameters["run"], store))
        return opened or not notices

    return take


def take_specs(folder: Path) -> Callable:
    def read(text: str) -> None:
        spec = RunSpec.from_json(text)
        literal.markdown(spec.summary).encode()
        assert RunSpec.from_json(spec.to_json()).key == spec.key

    return lambda text: softly(lambda: read(text))


def take_manifests(folder: Path) -> Callable:
    store, spec = Store(folder), RunSpec.default()
    known = Index(store)

    def build(bench: Workbench) -> tuple[dict, dict]:
        found = bench.collect(["0", "2"], lambda name: {"x": HALF})
        return {"numbers": KEPT, "x": shards_of([shard["x"] for shard in found])}, {}

    good = store.load_or_build("kernels", spec.key, spec.to_json(), build).folder
    (good / "folder").mkdir()
    (good / "x.3.npy").write_bytes((good / "x.2.npy").read_bytes())

    def take(text: str) -> bool:
        for aside in folder.glob("damaged/*"):
            aside.rename(good)
        (good / "meta.json").write_bytes(text.encode(errors="surrogatepass"))
        known._info(spec.key, known._read(spec.key))
        with warnings.catch_warnings(record=True, action="always") as said:
            artifact = store.get("kernels", spec.key)
        if artifact is None:
            return refused(str(said[-1].message).partition("(")[2] if said else "of another version")
        return softly(lambda: (artifact["numbers"], artifact["x"]))

    return take


def take_shards(folder: Path) -> Callable:
    bench = Workbench(folder / "partial" / "features-x")
    bench.shard("s0", lambda: {"part": KEPT})
    (bench.folder / "folder").mkdir()

    def take(text: str) -> bool:
        (bench.folder / "s0.json").write_bytes(text.encode(errors="surrogatepass"))
        found, listed = bench.find("s0"), bench._files("s0")
        if found is not None and listed:
            return True
        with suppress(FileNotFoundError):
            softly(lambda: bench._described("s0"))
        return False

    return take


def take_entries(folder: Path) -> Callable:
    known, key = Index(Store(folder)), RunSpec.default().key
    known.begin(RunSpec.default())
    file = known.folder / f"{key}.json"

    def take(text: str) -> bool:
        file.write_bytes(text.encode(errors="surrogatepass"))
        if known._info(key, known._read(key)) is not None:
            return True
        softly(lambda: RunSpec.from_json(_checked(read_json(file)).spec))
        return False

    return take


def take_listings(folder: Path) -> Callable:
    store, spec = Store(folder), RunSpec.default()
    known = Index(store)
    store.load_or_build("kernels", spec.key, spec.to_json(), lambda bench: ({"numbers": KEPT}, {}))
    known.begin(spec)
    known.listing.add({spec.key: json.dumps({"spec": spec.to_json(), "created": 1.7e9})})
    database = known.listing.folder / "cache.db"
    sound = database.read_bytes()

    def take(given: tuple) -> bool:
        changes, kept = given
        content = bytearray(sound)
        for place, byte in changes:
            content[place % len(content)] = byte
        database.parent.mkdir(exist_ok=True)
        for beside in ("cache.db-wal", "cache.db-shm"):
            database.with_name(beside).unlink(missing_ok=True)
        database.write_bytes(content[: len(content) if kept is None else kept % len(content)])
        try:
            with closing(known.listing._connect("ro", 1)) as connection:
                connection.execute(_READ, (10,)).fetchall()
        except Exception as error:
            refused(error)
        read = spec.key in known.listing.rows()
        # Whatever it holds, the run is there.
        assert [info.key for info in known.all()] == [spec.key]
        return read

    return take


def take_exports(suffix: str) -> Callable:
    def prepare(folder: Path) -> Callable:
        path = folder / f"set{suffix}"

        def take(given: tuple) -> bool:
            manifest, arrays, (place, byte), kept = given
            _write_export(path, manifest, arrays)
            content = bytearray(path.read_bytes())
            if byte is not None:
                content[place % len(content)] = byte
            path.write_bytes(content[: len(content) if kept is None else kept % len(content)])
            return softly(lambda: load_distilled(path))

        return take

    return prepare


def entry(array: np.ndarray) -> dict:
    """What the store says of an array's file."""
    np.lib.format.write_array(file := io.BytesIO(), array)
    content = file.getvalue()
    digest = hashlib.sha256(content).hexdigest()
    return {"shape": list(array.shape), "dtype": str(array.dtype), "bytes": len(content), "sha256": digest}


SPEC = RunSpec.default()
META = {
    "layout": LAYOUT,
    "stage": "kernels",
    "key": SPEC.key,
    "created": 1.7e9,
    "spec": SPEC.to_json(),
    "note": {"seconds": 1.0},
    "files": {"numbers.npy": entry(KEPT), "x.0.npy": entry(HALF), "x.2.npy": entry(HALF)},
}
ARRAYS = {
    "features": np.ones((2, 1, 3)),
    "targets": np.ones((1, 2)),
    "mixing": np.ones((1, 4)),
    "gram": np.ones((2, 1, 1)),
}
MANIFEST = {
    "format": FORMAT,
    "version": VERSION,
    "run": SPEC.key,
    "spec": json.loads(SPEC.to_json()),
    "lambda": 0.1,
    "arrays": {name: _describe(array) for name, array in ARRAYS.items()},
}


def _write_export(path: Path, manifest: str, arrays: dict) -> None:
    readable = manifest.encode(errors="replace").decode()
    if path.suffix == ".npz":
        np.savez(path, allow_pickle=False, manifest=np.array(readable), **arrays)
    else:
        save_file(arrays, path, metadata={"manifest": readable})


shapes = st.lists(st.integers(0, 3), max_size=4).map(tuple)
drawn_arrays = st.dictionaries(
    st.sampled_from([*ARRAYS, "extra"]),
    st.builds(np.zeros, shapes, st.sampled_from(["f8", "f4", "i8", "u1", "?"])),
    max_size=3,
).map(lambda changes: ARRAYS | changes)
exports = st.tuples(
    st.just(json.dumps(MANIFEST)) | changed(MANIFEST),
    st.just(ARRAYS) | drawn_arrays,
    st.tuples(st.integers(0, 10**6), st.none() | st.integers(0, 255)),
    st.none() | st.integers(0, 10**6),
)
parameters = st.dictionaries(
    st.sampled_from([*CONTROLS, "run", "other"]) | texts,
    texts | st.integers().map(str) | st.floats().map(str) | st.sampled_from([*link(View()).values()]),
    max_size=6,
)

damages = st.tuples(
    st.lists(st.tuples(st.integers(0, 100) | st.integers(0, 10**6), st.integers(0, 255)), min_size=1, max_size=40),
    st.none() | st.none() | st.integers(0, 10**6),
)

ENTRY = {"spec": SPEC.to_json(), "created": 1.7e9}
# That of another run, and a date that no number holds.
OTHER = replace(SPEC, projection=ProjectionSpec(k=7))
ENTRIES = [json.dumps(ENTRY | change) for change in ({"spec": OTHER.to_json()}, {"created": 10**400})]
# Files in the place of others, under a seal that fits: a gap between shards, a folder.
MOVED = ({"x.2.npy": "x.3.npy"}, {"numbers.npy": "folder"})
MISPLACED = [
    json.dumps(sealed(META | {"files": {names.get(name, name): each for name, each in META["files"].items()}}))
    for names in MOVED
]
SHARD = {"s0.part.npy": entry(KEPT)}
SHORT = {"s0.part.npy": entry(KEPT) | {"bytes": 7}}
manifest_parser = (read_meta, described, files._is_entry, check_seal, Store._open, Artifact._shards, shards_of)
shard_parser = (Workbench.find, Workbench._files, Workbench._described, described)
entry_parser = (index._checked, Index._read, Index._info)
export_parser = (export.load_distilled, export._check)
TARGETS = {
    "link": Target(parameters, take_links, (restore,)),
    "spec": Target(
        changed(json.loads(SPEC.to_json())), take_specs, (RunSpec.from_json, schema.read, schema._read_field)
    ),
    "manifest": Target(sealing(META) | st.sampled_from(MISPLACED), take_manifests, manifest_parser),
    "shard": Target(sealing(SHARD) | st.just(json.dumps(sealed(SHORT))), take_shards, shard_parser),
    "index entry": Target(sealing(ENTRY) | st.sampled_from(ENTRIES), take_entries, entry_parser),
    "listing": Target(damages, take_listings, (Listing.rows, index._entry)),
    "export .npz": Target(exports, take_exports(".npz"), (*export_parser, export._read_npz)),
    "export .safetensors": Target(exports, take_exports(".safetensors"), (*export_parser, export._read_safetensors)),
}
