"""What an operation must say of itself for its parameters' per-sample gradients to be formed without autograd."""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor
from torch.autograd.graph import GradientEdge

from dntk_core.gradients.rules.products import quick_outer, times_transposed

# What it costs to turn a number of a matrix round, in packings of one.
TURN = 3


@dataclass(frozen=True)
class Arguments:
    """What one call was given: data x, the tensors that may be parameters by role, and all that is neither."""

    x: Tensor
    roles: dict[str, Tensor | None]
    settings: Any = None


@dataclass(frozen=True)
class Leaf:
    """A parameter, or a tensor computed of parameters alone.

    sources: names of the parameters; made: whether it is not a parameter itself
    edge: where the gradient of what is made is led on to its sources
    """

    shape: torch.Size
    sources: tuple[str, ...]
    made: bool = False
    edge: GradientEdge | None = None


@dataclass(frozen=True)
class Call:
    """One call of an operation on a batch of b inputs.

    x: what went in, its first axis b or a multiple of it, which is then b inputs with several rows each
    source: where signals for what came before leave the call; None if nothing did
    shape: of what came out; edge: where its signal δ comes back
    """

    operation: "Operation"
    x: Tensor
    settings: Any
    leaves: dict[str, Leaf]
    shape: torch.Size
    edge: GradientEdge | None
    b: int
    source: GradientEdge | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """Parameters behind the call, those of each role in turn."""
        return tuple(name for leaf in self.leaves.values() for name in leaf.sources)

    @property
    def size(self) -> int:
        """Numbers that came out for one input."""
        return self.shape.numel() // self.b

    @property
    def way(self) -> tuple:
        """What every batch must repeat: the operation on the same parameters; sizes of inputs may change."""
        roles = tuple((role, leaf.sources, leaf.made) for role, leaf in self.leaves.items())
        return type(self.operation), roles, self.x.ndim, len(self.shape)

    def outline(self) -> "Call":
        """The call without its numbers and its graph: only shapes."""
        leaves = {role: replace(leaf, edge=None) for role, leaf in self.leaves.items()}
        return replace(self, x=self.x.to("meta"), leaves=leaves, edge=None, source=None)


class Room:
    """Memory for one gradient at a time, used again: fresh pages cost more than the product that fills them."""

    def __init__(self):
        self.numbers: Tensor | None = None

    def __call__(self, like: Tensor, *shape: int) -> Tensor:
        """An uninitialised tensor, which holds until the next one is asked for."""
        size = math.prod(shape)
        if self.numbers is None or self.numbers.numel() < size:
            self.numbers = like.new_empty(size)
        return self.numbers[:size].view(shape)


class Operation(ABC):
    """Per-sample gradients of one operation's parameters from what went in (x) and the signal that came back (δ)."""

    @abstractmethod
    def bind(self, *args: Any, **kwargs: Any) -> Arguments | None:
        """Read a call of the operation; None if the rule does not hold for it."""

    def compute(self, function: Callable, args: tuple, kwargs: dict, bound: Arguments) -> Tensor:
        """Do the operation: as it was asked for, or in a form whose signal is cheaper."""
        return function(*args, **kwargs)

    def side(self, call: Call) -> Tensor:
        """What the gradients need of x, once for all logits."""
        return call.x

    def side_numbers(self, call: Call) -> int:
        """Numbers that the side of one input holds beyond x itself."""
        return 0

    @abstractmethod
    def gradients(self, call: Call, side: Tensor, delta: Tensor) -> dict[str, Tensor]:
        """Gradients by role, (b, …) in the parameter's own order; the caller may overwrite them."""


class MatrixOperation(Operation):
    """An operation whose weight is a matrix: ∂f/∂W = Σ_positions δ ⊗ a, a = the input at that position.

    g are groups, T positions, o outputs and i inputs of a group.
    """

    @abstractmethod
    def patches(self, call: Call) -> Tensor:
        """Input side a, (b, g, i, T)."""

    @abstractmethod
    def signal(self, call: Call, delta: Tensor) -> Tensor:
        """Output side δ, (b, g, o, T)."""

    def factors(self, call: Call, delta: Tensor, columns: int) -> tuple[Tensor, Tensor | None]:
        """The signal, and what its products with that many columns are to be multiplied with; None for 1."""
        return self.signal(call, delta), None

    @abstractmethod
    def projected(self, call: Call, filters: Tensor) -> Tensor:
        """F a for random filters F (g·r, i), (b, g, r, T)."""

    @abstractmethod
    def matrix_shape(self, call: Call) -> tuple[int, int, int]:
        """(groups, outputs per group, inputs per group) of W as a matrix."""

    def by_products(self, call: Call) -> bool:
        """Whether the weight's gradient is formed as δ times a."""
        return True

    def to_matrix(self, call: Call, gradient: Tensor) -> Tensor:
        """A gradient in the weight's own order, (b, p), as matrices (b, g, o, i)."""
        return gradient.reshape(len(gradient), *self.matrix_shape(call))

    def from_matrix(self, gradient: Tensor) -> Tensor:
        """Matrices (b, g, o, i) in the weight's own order."""
        return gradient

    def side(self, call: Call) -> Tensor:
        return self.patches(call)

    def gradients(self, call: Call, side: Tensor, delta: Tensor, room: Room | None = None) -> dict[str, Tensor]:
        signal = self.signal(call, delta)
        found = {}
        if "weight" in call.leaves:
            found["weight"] = self.from_matrix(outer(signal, side, room))
        if "bias" in call.leaves:
            found["bias"] = signal.sum(-1)
        return found


def outer(signal: Tensor, side: Tensor, room: Room | None = None) -> Tensor:
    """Σ_positions δ ⊗ a, (b, g, o, i), in a room where there is one; signal (b, g, o, T), side (b, g, i, T)."""
    b, g, o, T = signal.shape
    left, right = signal.flatten(0, 1), side.transpose(-1, -2).flatten(0, 1)
    found = None if room is None else room(signal, b * g, o, side.shape[2])
    # Of a single position BLAS would make many tiny products.
    product = torch.mul(left, right, out=found) if T == 1 else torch.bmm(left, right, out=found)
    return product.unflatten(0, (b, g))


def outers(signal: Tensor, side: Tensor, room: Room) -> Iterator[Tensor]:
    """The same by parts, (inputs, g, o, i): all inputs at once, or one by one where that is faster."""
    _, g, o, T = signal.shape
    columns = side.shape[2]
    if g > 1 or not quick_outer(signal, o, columns, T):
        yield outer(signal, side, room)
        return
    for left, right in zip(signal.squeeze(1).contiguous(), side.squeeze(1).contiguous(), strict=True):
        # oneDNN packs its second factor anew: the smaller one, unless the product takes longer to turn round.
        flipped = T * (columns - o) > TURN * o * columns
        product = times_transposed(right, left).mT if flipped else times_transposed(left, right)
        yield product[None, None]


def by_input(values: Tensor, b: int) -> Tensor:
    """Rows of b inputs, (b·n, …) → (b, n, …)."""
    return values.reshape(b, -1, *values.shape[1:])
