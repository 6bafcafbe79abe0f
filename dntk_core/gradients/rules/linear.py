"""Linear maps: y = W a + bias over the last axis, or over the last but one; every other axis is a position."""

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor

from dntk_core.gradients.rules.operation import Arguments, Call, MatrixOperation
from dntk_core.gradients.rules.products import linear_signal, quick, quick_outer, with_signal


class Linear(MatrixOperation):
    """y = a Wᵀ + bias, W (o, i): `linear`. One group."""

    def bind(self, input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Arguments | None:
        return Arguments(input, {"weight": weight, "bias": bias}) if weight.ndim == 2 else None

    def compute(self, function: Callable, args: tuple, kwargs: dict, bound: Arguments) -> Tensor:
        """The same with a cheaper signal."""
        x, weight = bound.x, bound.roles["weight"]
        if weight is None or not x.requires_grad or not quick(x, x.shape[:-1].numel(), *weight.shape):
            return function(*args, **kwargs)
        y = self.value(x.detach(), weight, bound.roles.get("bias"))
        return with_signal(x, y, linear_signal(self.backwards(weight.detach()).contiguous()))

    def value(self, x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
        """What comes out."""
        return F.linear(x, weight, bias)

    def backwards(self, weight: Tensor) -> Tensor:
        """Wᵀ as `linear` takes it, (i, o)."""
        return weight.t()

    def patches(self, call: Call) -> Tensor:
        return _columns(call.x, call.b)

    def side(self, call: Call) -> Tensor:
        """Inputs, position by position in memory where products are taken so."""
        return self.patches(call).contiguous() if self._turned(call) else self.patches(call)

    def side_numbers(self, call: Call) -> int:
        return call.x.numel() // call.b if self._turned(call) else 0

    def _turned(self, call: Call) -> bool:
        _, o, i = self.matrix_shape(call)
        return quick_outer(call.x, o, i, call.size // o)

    def signal(self, call: Call, delta: Tensor) -> Tensor:
        return _columns(delta, call.b)

    def projected(self, call: Call, filters: Tensor) -> Tensor:
        return _columns(F.linear(call.x, filters), call.b)

    def matrix_shape(self, call: Call) -> tuple[int, int, int]:
        return 1, call.shape[-1], call.x.shape[-1]


class RightProduct(Linear):
    """y = a W, W (i, o): `matmul` with a parameter on the right; as a matrix its rows are inputs."""

    def bind(self, input: Tensor, weight: Tensor) -> Arguments | None:
        return Arguments(input, {"weight": weight}) if weight.ndim == 2 and input.ndim > 1 else None

    def value(self, x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
        return x @ weight if bias is None else torch.addmm(bias, x, weight)

    def backwards(self, weight: Tensor) -> Tensor:
        return weight

    def to_matrix(self, call: Call, gradient: Tensor) -> Tensor:
        _, o, i = self.matrix_shape(call)
        return gradient.reshape(len(gradient), 1, i, o).transpose(-1, -2)

    def from_matrix(self, gradient: Tensor) -> Tensor:
        return gradient.transpose(-1, -2)


class AddedRightProduct(RightProduct):
    """y = bias + a W: `addmm` with both factors 1."""

    def bind(self, input: Tensor, mat1: Tensor, mat2: Tensor, *, beta: float = 1, alpha: float = 1) -> Arguments | None:
        if beta != 1 or alpha != 1 or input.ndim != 1:
            return None
        return Arguments(mat1, {"weight": mat2, "bias": input})


class LeftProduct(MatrixOperation):
    """y = W a, W (o, i), a (b, i, T): `matmul` with a parameter on the left."""

    def bind(self, weight: Tensor, input: Tensor) -> Arguments | None:
        return Arguments(input, {"weight": weight}) if weight.ndim == 2 and input.ndim == 3 else None

    def patches(self, call: Call) -> Tensor:
        return _rows(call.x, call.b)

    def signal(self, call: Call, delta: Tensor) -> Tensor:
        return _rows(delta, call.b)

    def projected(self, call: Call, filters: Tensor) -> Tensor:
        return _rows(filters @ call.x, call.b)

    def matrix_shape(self, call: Call) -> tuple[int, int, int]:
        return 1, call.shape[-2], call.x.shape[-2]


def _columns(values: Tensor, b: int) -> Tensor:
    """(b, …, d) → (b, 1, d, T)."""
    return values.reshape(b, -1, values.shape[-1]).transpose(1, 2).unsqueeze(1)


def _rows(values: Tensor, b: int) -> Tensor:
    """(b·n, d, T) → (b, 1, d, n·T)."""
    if len(values) == b:
        return values.unsqueeze(1)
    d = values.shape[1]
    return values.reshape(b, -1, *values.shape[1:]).transpose(1, 2).reshape(b, 1, d, -1)
