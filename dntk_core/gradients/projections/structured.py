"""The structured projection: gradients sketched operation by operation from (x, δ), never formed as a whole.

Every parameter's gradient is sketched into the same k buckets by one of the unbiased linear maps in `maps`, whichever
costs least for its shape.
"""

from typing import Any

import torch
from torch import Tensor

from dntk_core.gradients.network import Network, led_on
from dntk_core.gradients.projections.maps import Fold, Map, MatrixMap, choose, matrix_operation
from dntk_core.gradients.rules import Call, MatrixOperation
from dntk_core.gradients.rules.embedding import LookUp
from dntk_core.gradients.rules.operation import Room

# What a call's sketches need of its input: a tensor, or the places of rows in a table.
Side = Any


class Structured:
    """g(u) for u = all parameters: the sum of their sketches."""

    def __init__(self, network: Network, seed: int, k: int, device: torch.device):
        self.network, self.k, self.room = network, k, Room()
        self.maps: dict[str, Map] = {}
        for name, p in network.sizes.items():
            calls = weight_calls(network, name)
            kind = choose(calls, k, network.classes)
            self.maps[name] = kind(calls[0], seed, name, k, device) if kind else Fold(seed, name, p, k, device)
        self.kept = structured_kept(network, k)

    def begin(self, calls: tuple[Call, ...]) -> list[tuple[Call, Side]]:
        """Do once per batch what does not depend on the logit."""
        sides = []
        for call in calls:
            sides.append((call, self._begin(call)))
        return sides

    def _begin(self, call: Call) -> Side:
        """What a call's sketches need of its input, for all logits."""
        if of_matrix := self._matrix_map(call):
            return of_matrix.begin(call)
        if isinstance(call.operation, LookUp) and (fold := self._fold_of_rows(call)):
            return fold.places(call.operation.tokens(call), call.leaves["weight"].shape[1:].numel())
        return call.operation.side(call)

    def project(
        self, state: list[tuple[Call, Side]], signals: tuple[Tensor | None, ...], rest: dict[str, Tensor]
    ) -> Tensor:
        """Sketch the gradients of one logit: (b, k)."""
        some = next(t for t in (*signals, *rest.values()) if t is not None)
        b = state[0][0].b if state else len(some)
        out = torch.zeros(b, self.k, device=some.device)
        spectrum = torch.zeros(b, self.k // 2 + 1, dtype=torch.complex64, device=some.device)
        for (call, side), delta in zip(state, signals, strict=True):
            if delta is not None:
                self._add(out, spectrum, call, side, delta)
        for name, gradient in rest.items():
            self.maps[name].add(out, gradient.clone())
        return out + torch.fft.irfft(spectrum, n=self.k)

    def _add(self, out: Tensor, spectrum: Tensor, call: Call, side: Side, delta: Tensor) -> None:
        """Add the sketches of one call's parameters."""
        if of_matrix := self._matrix_map(call):
            if "bias" in call.leaves:
                self._add_formed(out, call, {"bias": matrix_operation(call).signal(call, delta).sum(-1)})
            of_matrix.add_signal(out, spectrum, call, side, delta, self.room)
        elif isinstance(call.operation, LookUp) and (fold := self._fold_of_rows(call)):
            fold.add_rows(out, side, call.operation.rows(call, delta))
        elif isinstance(call.operation, MatrixOperation):
            self._add_formed(out, call, call.operation.gradients(call, side, delta, self.room))
        else:
            self._add_formed(out, call, call.operation.gradients(call, side, delta))

    def _add_formed(self, out: Tensor, call: Call, gradients: dict[str, Tensor]) -> None:
        for name, gradient in led_on(call, gradients, self.network.parameters):
            self.maps[name].add(out, gradient)

    def _fold_of_rows(self, call: Call) -> Fold | None:
        """The map of a table that is looked up, of which only some rows have a gradient."""
        leaf = call.leaves["weight"]
        found = None if leaf.made else self.maps[leaf.sources[0]]
        return found if isinstance(found, Fold) else None

    def _matrix_map(self, call: Call) -> MatrixMap | None:
        """The map of the call's weight if that takes signals."""
        leaf = call.leaves.get("weight")
        found = None if leaf is None or leaf.made else self.maps[leaf.sources[0]]
        return found if isinstance(found, MatrixMap) else None


def structured_kept(network: Network, k: int) -> int:
    """Numbers of one input that a structured projection keeps while all logits are taken."""
    total = 0
    for call in network.calls:
        leaf = call.leaves.get("weight")
        kind = choose(weight_calls(network, leaf.sources[0]), k, network.classes) if leaf else None
        total += kind.kept(call, k) if kind else call.operation.side_numbers(call)
    return total


def weight_calls(network: Network, name: str) -> tuple[Call, ...]:
    """The calls of a parameter if it is a weight in all of them, and nothing is made of it; else none."""
    calls = tuple(call for call in network.calls if name in call.names)
    plain = all("weight" in call.leaves and _is(call, name) for call in calls)
    return calls if plain else ()


def _is(call: Call, name: str) -> bool:
    return not call.leaves["weight"].made and call.leaves["weight"].sources == (name,) and call.names.count(name) == 1
