"""How a network is called on a batch, and what of its answer are the logits."""

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn

from dntk_core.base.errors import DNTKError
from dntk_core.data.batch import Batch, apply


def call(module: nn.Module, batch: Batch) -> Tensor:
    """f(x), (b, C): whatever the network takes and returns, called on a batch and reduced to its logits."""
    args, kwargs = arguments(in_precision_of(module, batch))
    return logits(module(*args, **kwargs))


def arguments(batch: Batch) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """What a network is called with: a dict's parts by name, a tuple's in order, a tensor alone."""
    if isinstance(batch, Mapping):
        return (), dict(batch)
    return (tuple(batch) if isinstance(batch, tuple | list) else (batch,)), {}


def logits(y: Any) -> Tensor:
    """The logits (b, C) in a network's answer: `.logits`, the first tensor of a tuple or dict; (b, C, 1, 1) as (b, C).

    >>> logits((torch.zeros(2, 3, 1, 1), None)).shape
    torch.Size([2, 3])
    """
    y = _named_logits(y)
    if isinstance(y, Mapping | tuple | list):
        parts = y.values() if isinstance(y, Mapping) else y
        y = next((part for part in parts if isinstance(part, Tensor)), y)
    if not isinstance(y, Tensor):
        raise DNTKError(f"the network must return a tensor (batch, C), got {type(y).__name__}; wrap it")
    while y.ndim > 2 and y.shape[-1] == 1:
        y = y.squeeze(-1)
    return y


def in_precision_of(module: nn.Module, batch: Batch) -> Batch:
    """The batch with its floating point numbers as wide as the network's, if those are all alike."""
    found = {p.dtype for p in module.parameters() if p.is_floating_point()}
    if len(found) != 1 or found == {torch.float32}:
        return batch
    (wanted,) = found
    return apply(lambda leaf: leaf.to(wanted) if leaf.is_floating_point() else leaf, batch)


def _named_logits(y: Any) -> Any:
    """What an answer calls its logits, as torchvision's GoogLeNet and the models of transformers do."""
    found = y.get("logits") if isinstance(y, Mapping) else getattr(y, "logits", None)
    return found if isinstance(found, Tensor) else y
