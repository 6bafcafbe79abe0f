"""What a layer kind must say of itself for its per-sample gradients to be formed without autograd."""

from abc import ABC, abstractmethod
from typing import Any

from torch import Tensor, nn


class Rule(ABC):
    """Per-sample gradients of one kind of layer from what went in (x) and the signal that came back (δ).

    The first axis of x and δ is the batch (b). `module` is a layer of the kind that the table lists the rule under.
    """

    def supports(self, module: Any) -> bool:
        """Whether the rule holds for this layer's settings."""
        return True

    def side(self, module: Any, x: Tensor) -> Tensor:
        """What the gradients need of x, once for all logits."""
        return x

    def side_numbers(self, module: Any, shape: tuple[int, ...]) -> int:
        """Numbers that the side of one input holds beyond x itself; shape: of the layer's output for one input."""
        return 0

    @abstractmethod
    def gradients(self, module: Any, side: Tensor, delta: Tensor) -> tuple[Tensor, Tensor | None]:
        """Gradients of (weight, bias), the batch in front; None where the layer has no bias."""


class MatrixRule(Rule):
    """A rule of layers whose weight is a matrix: ∂f/∂W = Σ_positions δ ⊗ a, a = the input at that position.

    g are groups, T positions, o outputs and i inputs of a group.
    """

    @abstractmethod
    def patches(self, module: Any, x: Tensor) -> Tensor:
        """Input side a, (b, g, i, T)."""

    @abstractmethod
    def signal(self, module: Any, delta: Tensor) -> Tensor:
        """Output side δ, (b, g, o, T)."""

    @abstractmethod
    def projected(self, module: Any, x: Tensor, filters: Tensor) -> Tensor:
        """F a for random filters F (g·r, i), (b, g, r, T)."""

    @abstractmethod
    def matrix_shape(self, module: Any) -> tuple[int, int, int]:
        """(groups, outputs per group, inputs per group) of W as a matrix."""


def bias_gradient(module: nn.Linear | nn.Conv2d, signal: Tensor) -> Tensor | None:
    """Σ_positions δ, (b, g, o)."""
    return None if module.bias is None else signal.sum(-1)
