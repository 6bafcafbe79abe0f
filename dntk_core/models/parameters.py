"""Which parameters of a network are studied, and how they fall into groups: by layer, by block, by patterns."""

import re
from collections.abc import Sequence

from torch import nn

from dntk_core.base.errors import DNTKError

# What parameters are called that no pattern of their own matches.
OTHERS = "others"
LAYERS, BLOCKS = "layers", "blocks"


def narrow(module: nn.Module, pattern: str) -> nn.Module:
    """Leave a gradient only to the parameters whose name a pattern finds; an empty one leaves all as they are."""
    if not pattern:
        return module
    names = [name for name, p in module.named_parameters() if p.requires_grad]
    found = _matched(pattern, names)
    if not found:
        raise DNTKError(f"no parameter's name matches {pattern!r}; there are {_some(names)}")
    for name, p in module.named_parameters():
        p.requires_grad_(p.requires_grad and name in found)
    return module


def group_names(names: Sequence[str], groups: str) -> dict[str, tuple[str, ...]]:
    """Parameters by group, in the network's order: `layers`, `blocks`, or patterns separated by spaces.

    >>> group_names(["stem.0.weight", "blocks.1.conv.weight", "blocks.1.bn.bias"], "blocks")
    {'stem': ('stem.0.weight',), 'blocks.1': ('blocks.1.conv.weight', 'blocks.1.bn.bias')}
    """
    found: dict[str, list[str]] = {}
    if groups in (LAYERS, BLOCKS):
        of = layer_of if groups == LAYERS else block_of
        for name in names:
            found.setdefault(of(name), []).append(name)
        return {group: tuple(own) for group, own in found.items()}
    left = list(names)
    for pattern in groups.split():
        own = _matched(pattern, left)
        if not own:
            raise DNTKError(
                f"the group {pattern!r} is empty: no parameter's name matches it, or groups before it took them all; "
                f"there are {_some(names)}"
            )
        found[pattern] = [name for name in left if name in own]
        left = [name for name in left if name not in own]
    if left:
        found[OTHERS] = left
    return {group: tuple(own) for group, own in found.items()}


def layer_of(name: str) -> str:
    """The module that a parameter belongs to.

    >>> layer_of("layer1.0.conv1.weight")
    'layer1.0.conv1'
    """
    return name.rpartition(".")[0] or name


def block_of(name: str) -> str:
    """The first numbered part of a network that has parts of its own; else the part at the top.

    >>> block_of("layer1.0.downsample.0.weight"), block_of("encoder.layer_3.mlp.weight"), block_of("fc.weight")
    ('layer1.0', 'encoder.layer_3', 'fc')
    """
    parts = name.split(".")
    for place, part in enumerate(parts[:-2]):
        if re.fullmatch(r"(.*_)?\d+", part):
            return ".".join(parts[: place + 1])
    return parts[0]


def _matched(pattern: str, names: Sequence[str]) -> set[str]:
    try:
        return {name for name in names if re.search(pattern, name)}
    except re.error as error:
        raise DNTKError(f"{pattern[:80]!r} is no regular expression: {error}") from None


def _some(names: Sequence[str], shown: int = 4) -> str:
    more = f" and {len(names) - shown} more" if len(names) > shown else ""
    return ", ".join(names[:shown]) + more
