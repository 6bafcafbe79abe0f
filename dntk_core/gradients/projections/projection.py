"""What a projection of a network's gradients to R^k is, to whoever streams gradients through it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import torch
from torch import Tensor

from dntk_core.gradients.network import Network
from dntk_core.gradients.rules import Call


class Projector(Protocol):
    """A linear map from the gradients of one network to R^k, unbiased: E⟨g(u), g(v)⟩ = ⟨u, v⟩.

    It is a pure function of (seed, network, k). kept: numbers that `begin` holds for one input
    """

    k: int
    kept: int

    def begin(self, calls: tuple[Call, ...]) -> Any:
        """Do once per batch what does not depend on the logit; calls: the operations with fast gradients."""
        ...

    def project(self, state: Any, signals: tuple[Tensor | None, ...], rest: dict[str, Tensor]) -> Tensor:
        """Project the gradients of one logit, (b, k).

        state: what `begin` returned; signals: δ at every call's output; rest: gradients of other parameters, which
        may be any, since a batch that takes another way has them all there
        """
        ...


def at_most_P(k: int, P: int) -> int:
    """Take k as it is asked for; fewer parameters need no projection."""
    return min(k, P)


@dataclass(frozen=True)
class Projection:
    """A row of the table of projections.

    make:      (network, seed, k, device) → its projector
    kept:      (network, k) → the projector's `kept`, known before it is made
    whole_gradients: whether it takes all parameters of a gradient at once, not one after the other
    dimension: (k asked for, P) → k
    """

    make: Callable[[Network, int, int, torch.device], Projector]
    kept: Callable[[Network, int], int]
    whole_gradients: bool
    dimension: Callable[[int, int], int] = at_most_P
