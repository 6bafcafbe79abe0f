"""What inputs can be: images, rows of a table, texts as token ids, or any other arrays."""

from dataclasses import dataclass

from dntk_core.base.parts import KINDS as NAMES
from dntk_core.data.batch import Batch, leaves


@dataclass(frozen=True)
class Kind:
    """What one input and several are called on pages and in sentences."""

    one: str
    many: str


KINDS: dict[str, Kind] = dict(
    zip(
        NAMES,
        (Kind("image", "images"), Kind("row", "rows"), Kind("text", "texts"), Kind("input", "inputs")),
        strict=True,
    )
)


def kind_of(inputs: Batch) -> str:
    """What arrays (n, …) most likely are: integers (n, length) token ids, numbers (n, features) a table; never images.

    >>> import numpy as np
    >>> kind_of(np.zeros((5, 3))), kind_of({"ids": np.zeros((5, 3), int), "mask": np.ones((5, 3))})
    ('table', 'tokens')
    """
    found = leaves(inputs)
    if any(leaf.ndim == 2 and leaf.dtype.kind in "iu" for leaf in found):
        return "tokens"
    return "table" if len(found) == 1 and found[0].ndim == 2 else "array"
