"""A batch of inputs: a tensor, or a dict or tuple of tensors (ids, padding mask …) that share their first axis."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from dntk_core.base.errors import DNTKError

# A leaf is a NumPy array, a torch tensor, or anything that is indexed alike.
Batch = Any


def leaves(batch: Batch) -> list[Any]:
    """The tensors of a batch, in order.

    >>> leaves({"ids": 1, "mask": (2, 3)})
    [1, 2, 3]
    """
    return [leaf for part in _parts(batch) for leaf in leaves(part)] if _is_tree(batch) else [batch]


def apply(function: Callable[[Any], Any], batch: Batch) -> Batch:
    """The same tree with every tensor replaced by what the function makes of it.

    >>> apply(lambda leaf: leaf + 1, {"ids": 1, "mask": (2, 3)})
    {'ids': 2, 'mask': (3, 4)}
    """
    if isinstance(batch, Mapping):
        return {name: apply(function, part) for name, part in batch.items()}
    if isinstance(batch, tuple | list):
        return tuple(apply(function, part) for part in batch)
    return function(batch)


def length(batch: Batch) -> int:
    """The number of inputs: the first axis that all tensors share."""
    lengths = {len(leaf) for leaf in leaves(batch)}
    if len(lengths) != 1:
        raise DNTKError(f"the parts of a batch must hold equally many inputs, got {sorted(lengths)}")
    return lengths.pop()


def take(batch: Batch, index: Any) -> Batch:
    """The inputs at an index: a slice, or an array or tensor of places."""
    return apply(lambda leaf: leaf[index], batch)


def to(batch: Batch, device: Any) -> Batch:
    """The batch on a device of torch."""
    return apply(lambda leaf: leaf.to(device), batch)


def concatenate(batches: Sequence[Batch]) -> Batch:
    """One batch of several, in order; all have the same tree."""
    first = batches[0]
    if isinstance(first, Mapping):
        return {name: concatenate([batch[name] for batch in batches]) for name in first}
    if isinstance(first, tuple | list):
        return tuple(concatenate(parts) for parts in zip(*batches, strict=True))
    if isinstance(first, np.ndarray):
        return np.concatenate(batches)
    # Data are listed without PyTorch, which takes seconds to load.
    import torch

    return torch.cat(list(batches))


def _is_tree(batch: Batch) -> bool:
    return isinstance(batch, Mapping | tuple | list)


def _parts(batch: Batch) -> list[Any]:
    return list(batch.values()) if isinstance(batch, Mapping) else list(batch)
