"""Projections of whole gradients: all P numbers of a gradient are assembled, then mapped to R^k."""

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Protocol

import torch
from torch import Tensor

from dntk_core.gradients.network import Network, gradients_of
from dntk_core.gradients.projections.projection import Projection, at_most_P
from dntk_core.gradients.rules import Call

# Calls with fast gradients, each with its input side.
Sides = tuple[tuple[Call, Tensor], ...]


class LinearMap(Protocol):
    """A linear map R^P → R^k of the rows of a matrix."""

    k: int

    def __call__(self, u: Tensor) -> Tensor:
        """(b, P) → (b, k)."""
        ...


class WholeGradients:
    """Assemble each gradient (b, P), then map it to (b, k)."""

    def __init__(self, network: Network, linear_map: LinearMap):
        self.network, self.linear_map, self.k = network, linear_map, linear_map.k
        self.kept = all_patches(network)

    def begin(self, calls: tuple[Call, ...]) -> Sides:
        """Take the input sides of all calls."""
        return input_sides(calls)

    def project(self, state: Sides, signals: tuple[Tensor | None, ...], rest: dict[str, Tensor]) -> Tensor:
        """Project the gradients of one logit: (b, k)."""
        some = next(t for t in (*signals, *rest.values()) if t is not None)
        gradient = torch.zeros(_inputs(state, rest), self.network.P, device=some.device)
        blocks = dict(zip(self.network.sizes, gradient.split(list(self.network.sizes.values()), dim=1), strict=True))
        for name, part in named_gradients(self.network, state, signals, rest):
            blocks[name].copy_(part)
        return self.linear_map(gradient)


def of_whole_gradients(
    make: Callable[[int, int, int, torch.device], LinearMap], dimension: Callable[[int, int], int] = at_most_P
) -> Projection:
    """Turn the maker (seed, P, k, device) of a linear map into a row of the table of projections."""
    return Projection(
        lambda network, seed, k, device: WholeGradients(network, make(seed, network.P, k, device)),
        kept=lambda network, k: all_patches(network),
        whole_gradients=True,
        dimension=dimension,
    )


def all_patches(network: Network) -> int:
    """Numbers in the input sides of one input beyond what went into the operations."""
    return sum(call.operation.side_numbers(call) for call in network.calls)


def input_sides(calls: tuple[Call, ...]) -> Sides:
    """What the gradients of every call need of its input."""
    return tuple((call, call.operation.side(call)) for call in calls)


def named_gradients(
    network: Network, sides: Sides, signals: tuple[Tensor | None, ...], rest: dict[str, Tensor]
) -> Iterator[tuple[str, Tensor]]:
    """Every parameter's gradient of one logit, one at a time: (name, (b, p)); those met several times are summed."""
    parameters = network.parameters
    waiting = Counter(name for call, _ in sides for name in set(call.names))
    sums: dict[str, Tensor] = {}
    for (call, side), delta in zip(sides, signals, strict=True):
        found = {} if delta is None else gradients_of(call, side, delta, parameters)
        for name in dict.fromkeys(call.names):
            if name in found:
                sums[name] = sums[name] + found[name] if name in sums else found[name]
            waiting[name] -= 1
            if not waiting[name] and name in sums:
                yield name, sums.pop(name)
    yield from rest.items()


def _inputs(sides: Sides, rest: dict[str, Tensor]) -> int:
    """Inputs of the batch."""
    return sides[0][0].b if sides else len(next(iter(rest.values())))
