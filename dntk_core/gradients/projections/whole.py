"""Projections of whole gradients: all P numbers of a gradient are assembled, then mapped to R^k."""

from collections.abc import Callable, Iterator
from typing import Protocol

import torch
from torch import Tensor

from dntk_core.gradients.layers import input_side, patch_numbers, per_sample_gradients
from dntk_core.gradients.network import Network
from dntk_core.gradients.projections.projection import Projection, between_1_and_P


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

    def begin(self, inputs: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        """Take the input sides of all fast layers."""
        return input_sides(self.network, inputs)

    def project(self, state: tuple[Tensor, ...], signals: tuple[Tensor | None, ...], rest: dict[str, Tensor]) -> Tensor:
        """Project the gradients of one logit: (b, k)."""
        some = next(t for t in (*signals, *rest.values()) if t is not None)
        gradient = some.new_zeros(len(some), self.network.P)
        blocks = dict(zip(self.network.sizes, gradient.split(list(self.network.sizes.values()), dim=1), strict=True))
        for name, part in named_gradients(self.network, state, signals, rest):
            blocks[name].copy_(part)
        return self.linear_map(gradient)


def of_whole_gradients(
    make: Callable[[int, int, int, torch.device], LinearMap], dimension: Callable[[int, int], int] = between_1_and_P
) -> Projection:
    """Turn the maker (seed, P, k, device) of a linear map into a row of the table of projections."""
    return Projection(
        lambda network, seed, k, device: WholeGradients(network, make(seed, network.P, k, device)),
        kept=lambda network, k: all_patches(network),
        whole_gradients=True,
        dimension=dimension,
    )


def all_patches(network: Network) -> int:
    """Numbers in the input sides of one input beyond what went into the layers."""
    return sum(patch_numbers(layer.module, layer.shape) for layer in network.layers)


def input_sides(network: Network, inputs: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
    """What every fast layer's gradients need of its input."""
    return tuple(input_side(layer.module, x) for layer, x in zip(network.layers, inputs, strict=True))


def named_gradients(
    network: Network, sides: tuple[Tensor, ...], signals: tuple[Tensor | None, ...], rest: dict[str, Tensor]
) -> Iterator[tuple[str, Tensor]]:
    """Every parameter's gradient of one logit, one at a time: (name, (b, p))."""
    for layer, side, delta in zip(network.layers, sides, signals, strict=True):
        if delta is not None:
            for attr, gradient in per_sample_gradients(layer.module, side, delta).items():
                yield layer.parameters[attr], gradient
    yield from rest.items()
