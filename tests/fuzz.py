"""What a stranger may hand in, made up at random: links, specs, manifests, shards, index entries, exports.

Each target takes an input and says whether it was accepted; it may raise nothing but DNTKError.
"""

import hashlib
import io
import json
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from hypothesis import strategies as st
from safetensors.numpy import save_file

from dntk_core.base.errors import DNTKError
from dntk_core.base.spec import RunSpec
from dntk_core.cache.artifact import LAYOUT
from dntk_core.cache.index import Index
from dntk_core.cache.store import Store
from dntk_core.cache.workbench import Workbench
from dntk_core.dashboard import literal
from dntk_core.dashboard.controls import CONTROLS, Limits
from dntk_core.dashboard.view import View, link, restore
from dntk_core.run.export import FORMAT, VERSION, _describe, load_distilled
from dntk_core.run.pipeline import open_run

PATHS = ("../../x", "/etc/passwd", "..", ".", "", "a/b", "a\0b", "x" * 5000, "\ud800", "~/x", "C:\\x", "meta.json")
NUMBERS = (0, -1, 2**63, 10**400, 1e308, float("inf"), float("nan"), True, None)
odd = st.sampled_from([*PATHS, *NUMBERS])
texts = st.text(max_size=20) | st.sampled_from(PATHS)
values = st.recursive(
    odd | st.booleans() | st.integers() | st.floats() | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=5,
)
KEPT = np.arange(6.0)
LIMITS = Limits(60, ("cat", "dog"))


@dataclass(frozen=True)
class Target:
    """inputs: what is handed in; prepare: given a cache folder, returns what takes an input, True if it accepts it."""

    inputs: st.SearchStrategy
    prepare: Callable[[Path], Callable[[object], bool]]


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


def softly(act: Callable[[], object]) -> bool:
    """Whether it was accepted; DNTKError is a refusal."""
    try:
        act()
    except DNTKError:
        return False
    return True


def take_links(folder: Path) -> Callable:
    store = Store(folder)

    def take(parameters: dict) -> bool:
        view, notices = restore(parameters, LIMITS)
        assert all(CONTROLS[name].allows(value, LIMITS) for name, value in view.items())
        for notice in notices:
            literal.markdown(notice).encode()
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
    good = store.load_or_build("kernels", spec.key, spec.to_json(), lambda bench: ({"numbers": KEPT}, {})).folder

    def take(text: str) -> bool:
        for aside in folder.glob("damaged/*"):
            aside.rename(good)
        (good / "meta.json").write_bytes(text.encode(errors="surrogatepass"))
        for description in store.artifacts("kernels"):
            Index(store)._info(description["key"], {description["key"]: json.dumps(description)})
        with warnings.catch_warnings(action="ignore"):
            artifact = store.get("kernels", spec.key)
        return artifact is not None and softly(lambda: artifact["numbers"])

    return take


def take_shards(folder: Path) -> Callable:
    bench = Workbench(folder / "partial" / "features-x")
    bench.shard("s0", lambda: {"part": KEPT})

    def take(text: str) -> bool:
        (bench.folder / "s0.json").write_bytes(text.encode(errors="surrogatepass"))
        return bench.find("s0") is not None

    return take


def take_entries(folder: Path) -> Callable:
    index, key = Index(Store(folder)), RunSpec.default().key
    return lambda text: index._info(key, text) is not None


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
    "files": {"numbers.npy": entry(KEPT)},
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

TARGETS = {
    "link": Target(parameters, take_links),
    "spec": Target(changed(json.loads(SPEC.to_json())), take_specs),
    "manifest": Target(changed(META), take_manifests),
    "shard": Target(changed({"s0.part.npy": entry(KEPT)}), take_shards),
    "index entry": Target(changed({"spec": SPEC.to_json(), "created": 1.7e9}), take_entries),
    "export .npz": Target(exports, take_exports(".npz")),
    "export .safetensors": Target(exports, take_exports(".safetensors")),
}
