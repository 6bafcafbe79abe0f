"""Inputs that are no pictures in few words: a table's row by its columns, a text by its words."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from dntk_core.dashboard.figures.tiles import Faces
from dntk_core.data.batch import Batch, leaves, take
from dntk_core.data.inputs import IMAGE, Inputs
from dntk_core.data.kinds import KINDS
from dntk_core.run.pipeline import Run

# Columns of a row and words of a text that are written out.
COLUMNS, WORDS = 6, 40


def in_words(run: Run, inputs: Inputs, index: int) -> str:
    """One of a run's inputs, lines of plain text."""
    return described(run.kind, take(inputs[np.array([index])], 0), run.vocabulary)


def described(kind: str, one: Batch, vocabulary: Sequence[str]) -> str:
    """One input in words: its columns with their values, its words, or what its arrays are like.

    >>> described("table", np.array([0.5, -2000]), ("age", "mass"))
    'age 0.5\\nmass -2e+03'
    """
    return _DESCRIBED.get(kind, _array)(one, vocabulary)


def faces(run: Run) -> Faces:
    """What the kernel inputs of a run look like: images, or words."""
    return run.images if run.kind == IMAGE else partial(in_words, run, run.inputs)


def many(run: Run) -> str:
    """What the inputs of a run are called."""
    return KINDS[run.kind].many


def _row(one: Batch, names: Sequence[str]) -> str:
    (values,) = leaves(one)
    lines = [f"{names[i] if i < len(names) else i + 1} {values[i]:.3g}" for i in range(min(len(values), COLUMNS))]
    return "\n".join([*lines, *(["…"] if len(values) > COLUMNS else [])])


def _text(one: Batch, words: Sequence[str]) -> str:
    """The tokens that a mask, if there is one, does not hide."""
    ids, *others = sorted(leaves(one), key=_like_a_mask)
    # A tokenizer's other zeros and ones, as which sentence a token is of, hide nothing.
    named = {name: leaf for name, leaf in one.items() if "mask" in name} if isinstance(one, Mapping) else {}
    masks = [leaf for leaf in (named.values() or others) if _like_a_mask(leaf) and leaf.shape == ids.shape]
    shown = ids[masks[0] > 0] if masks else ids
    written = [str(words[i]) if 0 <= i < len(words) else str(i) for i in shown[:WORDS].tolist()]
    return " ".join([*written, *(["…"] if len(shown) > WORDS else [])])


def _like_a_mask(leaf: np.ndarray) -> bool:
    return leaf.dtype.kind not in "iu" or leaf.size == 0 or leaf.max() <= 1


def _array(one: Batch, names: Sequence[str]) -> str:
    return "\n".join(_summary(np.asarray(leaf)) for leaf in leaves(one))


def _summary(leaf: np.ndarray) -> str:
    shape = " × ".join(map(str, leaf.shape)) or "one number"
    return f"{shape}, {leaf.min():.3g} to {leaf.max():.3g}" if leaf.size else shape


_DESCRIBED: dict[str, Any] = {"table": _row, "tokens": _text}
