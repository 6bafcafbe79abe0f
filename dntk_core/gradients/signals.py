"""Signals at all operations' outputs, for every logit: one after the other, or all at once on a GPU.

On a CPU a small batch's way back through wide layers with few positions, as in the last stage of a ResNet, is mostly
the reading of their weights. Through such an end of a network some logits go together, and one by one from there on.
"""

import warnings
from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.autograd.graph import GradientEdge, Node

from dntk_core.base.memory import out_of_memory
from dntk_core.gradients.network import Signals, Tape, edges, float32
from dntk_core.gradients.rules import Call

# Rows, inputs times logits, from which weights are read for many enough.
ROWS = 160


@dataclass(frozen=True)
class End:
    """The end of a network: which calls are in it, and the cut through which all signals for the others leave it."""

    inside: tuple[bool, ...]
    cut: GradientEdge


def signals_of_logits(tape: Tape, batched: bool) -> Iterator[tuple[Tensor, Signals]]:
    """Per logit c: the cotangent e_c (b, C) and the signals δ at every call's output.

    batched: back-propagate all logits at once
    """
    b, C = tape.logits.shape
    cotangents = torch.eye(C, device=tape.logits.device).unsqueeze(1).expand(C, b, C)
    if batched and tape.calls:
        together = _together(tape, edges(tape.calls), cotangents)
        yield from ((cotangents[c], float32(_of(together, c))) for c in range(C))
        return
    count = min(C, ROWS // b)
    end = narrow_end(tape, count) if count > 1 else None
    for group in cotangents.split(count if end else 1):
        yield from zip(group, _through(tape, end, group) if end else [tape.signals(group[0])], strict=True)


def narrow_end(tape: Tape, count: int) -> End | None:
    """The longest end in which each logit's signals are fewer than the weights, and `count` times as many fit."""
    room = sum(call.size for call in tape.calls)
    sizes = weights = 0
    ends: list[int] = []
    for first in range(len(tape.calls) - 1, 0, -1):
        call = tape.calls[first]
        sizes += call.size
        weights += sum(leaf.shape.numel() for leaf in call.leaves.values())
        if count * sizes > room:
            break
        if call.source is not None and weights > len(tape.logits) * sizes:
            ends.append(first)
    found = (_parted(tape, first) for first in reversed(ends))
    return next((end for end in found if end), None)


def _parted(tape: Tape, first: int) -> End | None:
    """The end that begins with a call, if signals reach the calls before only through that call's input.

    What was computed after its input, all that comes later, has no part in it.
    """
    cut, later = tape.calls[first].source, _nodes(tape.calls[first:])
    reached = None if cut is None else _nodes_before(tape.logits, cut)
    if cut is None or reached is None or not later <= reached or (_nodes(tape.calls) - later) & reached:
        return None
    return End(tuple(edge.node in later for edge in edges(tape.calls)), cut)


def _nodes(calls: tuple[Call, ...]) -> set[Node]:
    return {edge.node for edge in edges(calls)}


def _nodes_before(y: Tensor, cut: GradientEdge) -> set[Node] | None:
    """Operations of autograd between y and a cut; None if another output of the cut's operation is used as well."""
    seen: set[Node] = {y.grad_fn} if y.grad_fn is not None else set()
    waiting = list(seen)
    while waiting:
        for following, output in waiting.pop().next_functions:
            if following is None or following in seen:
                continue
            if following == cut.node:
                if output != cut.output_nr:
                    return None
                continue
            seen.add(following)
            waiting.append(following)
    return seen


def _through(tape: Tape, end: End, cotangents: Tensor) -> Iterator[Signals]:
    """Signals of some logits, which go through the end together."""
    ends = edges(tape.calls)
    later, earlier = (
        [edge for edge, here in zip(ends, end.inside, strict=True) if here is which] for which in (True, False)
    )
    try:
        together = _together(tape, [*later, end.cut], cotangents)
    except RuntimeError as error:
        if out_of_memory(error):
            raise
        # Some operation has no batching rule.
        yield from (tape.signals(cotangent) for cotangent in cotangents)
        return
    for place in range(len(cotangents)):
        *of_end, at_cut = _of(together, place)
        found = {True: iter(of_end), False: iter(_beyond(end.cut, earlier, at_cut))}
        yield float32(tuple(next(found[here]) for here in end.inside))


def _beyond(cut: GradientEdge, ends: list[GradientEdge], delta: Tensor | None) -> Signals:
    """Back-propagate the signal at the cut; there is none where something behind it lets none pass."""
    if delta is None:
        return (None,) * len(ends)
    return torch.autograd.grad([cut], ends, [delta], retain_graph=True, allow_unused=True)


def _together(tape: Tape, ends: list[GradientEdge], cotangents: Tensor) -> Signals:
    """Back-propagate cotangents (G, b, C) at once: signals (G, b, …)."""
    places: list[int] = []

    def back(cotangent: Tensor) -> tuple[Tensor, ...]:
        found = torch.autograd.grad(tape.logits, ends, cotangent, retain_graph=True, allow_unused=True)
        places[:] = [place for place, delta in enumerate(found) if delta is not None]
        return tuple(found[place] for place in places)

    with warnings.catch_warnings():
        # An operation without a batching rule takes one logit after the other, as all would otherwise.
        warnings.filterwarnings("ignore", "There is a performance drop")
        # Autograd's own batching makes many convolutions of one.
        signals = torch.vmap(back)(cotangents)
    together: list[Tensor | None] = [None] * len(ends)
    for place, delta in zip(places, signals, strict=True):
        together[place] = delta
    return tuple(together)


def _of(together: Signals, place: int) -> Signals:
    """The signals of one of several logits."""
    return tuple(None if delta is None else delta[place] for delta in together)
