"""Inputs of any kind, taken when they are asked for, and as a run keeps them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from dntk_core.base.errors import DNTKError
from dntk_core.data.batch import Batch, apply, leaves, length, take
from dntk_core.data.images import Images, Indexable, as_images, stored

IMAGE = "image"


class Inputs(Indexable[Batch], Protocol):
    """n inputs; indexed by a slice or an array of places, a batch of them. `Images` and `Arrays` are such."""

    def __len__(self) -> int: ...


@dataclass(frozen=True)
class Arrays:
    """Inputs that are an array (n, …), or a dict or tuple of arrays."""

    tree: Batch

    def __len__(self) -> int:
        return length(self.tree)

    def __getitem__(self, index: Any) -> Batch:
        return take(self.tree, index)


def checked_arrays(tree: Batch, what: str) -> Arrays:
    """Arrays of finite numbers, integers left as they are; `what` names them in an error."""
    for leaf in leaves(tree):
        if not isinstance(leaf, np.ndarray) or not leaf.ndim or leaf.dtype.kind not in "buif":
            raise DNTKError(f"{what} must be arrays of numbers, the first axis over inputs")
        if leaf.dtype.kind == "f" and not np.isfinite(leaf).all():
            raise DNTKError(f"{what} holds numbers that are not finite; fill them in or leave these inputs out")
    length(tree)
    return Arrays(tree)


def kept(kind: str, inputs: Inputs, index: np.ndarray) -> tuple[dict[str, np.ndarray], dict]:
    """The chosen inputs as arrays for the cache, and the note that tells how to open them."""
    if kind == IMAGE:
        return {"images": stored(inputs, index)}, {}
    batch = inputs[index]
    arrays = {f"inputs-{i}": leaf for i, leaf in enumerate(leaves(batch))}
    names = iter(arrays)
    return arrays, {"kind": kind, "tree": apply(lambda leaf: next(names), batch)}


def opened(arrays: Any, note: Mapping[str, Any]) -> Images | Arrays:
    """Inputs that were kept, from what holds their arrays by name; runs that say nothing of a kind have images."""
    if kind_in(note) == IMAGE:
        return as_images(arrays.rows("images"))
    return Arrays(apply(lambda name: arrays[name], note["tree"]))


def kind_in(note: Mapping[str, Any]) -> str:
    """What kind of inputs a note speaks of."""
    return note.get("kind", IMAGE)
