"""Convolutions: y = W ∗ x; a position is an output pixel, a its input patch; any stride, dilation and groups."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import torch
import torch.nn.functional as F
from torch import Tensor

from dntk_core.gradients.rules.operation import Arguments, Call, MatrixOperation, Operation, Room, by_input
from dntk_core.gradients.rules.products import plain, pointwise_signal, wider, with_signal
from dntk_core.gradients.rules.weight_gradients import (
    Geometry,
    by_groups,
    call_gradient,
    in_strips,
    strips,
    strips_gradient,
)


@dataclass(frozen=True)
class Apart:
    """A convolution of known kernel, its output y as parameters see it, without the input's graph, and y's version."""

    bound: Arguments
    kernel: Tensor
    y: Tensor
    version: int = 0

    def signal(self, scale: Tensor | None = None) -> Callable[[Tensor], Tensor]:
        """How signals of y, or of scale·y, go back to the input."""
        x, kernel, (geometry, shape) = self.bound.x.detach(), self.kernel, self.bound.settings
        if scale is not None:
            kernel = kernel * scale.detach().reshape(-1, *(1,) * (len(shape) - 1))
        if wider() and len(shape) == 4 and geometry.groups == 1 and geometry.pointwise(shape):
            return pointwise_signal(kernel)
        return lambda delta: torch.ops.aten.convolution_backward(
            delta,
            x,
            kernel,
            None,
            geometry.stride,
            geometry.padding,
            geometry.dilation,
            False,
            (0,) * len(geometry.stride),
            geometry.groups,
            (True, False, False),
        )[0]

    def scaled(self, scale: Tensor) -> Arguments:
        """The same convolution as a norm sees it that multiplies its channels."""
        geometry, shape = self.bound.settings
        return replace(self.bound, settings=(replace(geometry, scale=scale.detach()), shape))


class Convolution(MatrixOperation):
    """∂f/∂W = Σ_positions δ ⊗ a in every group; one, two or three axes in space."""

    def bind(
        self,
        input: Tensor,
        weight: Tensor,
        bias: Tensor | None = None,
        stride: int | tuple[int, ...] = 1,
        padding: int | tuple[int, ...] | str = 0,
        dilation: int | tuple[int, ...] = 1,
        groups: int = 1,
    ) -> Arguments | None:
        axes = weight.ndim - 2
        if input.ndim != weight.ndim:
            return None
        dilation = _each(dilation, axes)
        if isinstance(padding, str):
            input, padding = _named_padding(input, padding, weight.shape[2:], dilation)
        geometry = Geometry(_each(stride, axes), _each(padding, axes), dilation, groups)
        return Arguments(input, {"weight": weight, "bias": bias}, (geometry, weight.shape))

    def compute(self, function: Callable, args: tuple, kwargs: dict, bound: Arguments) -> Tensor:
        """The same with its input's graph apart, so that a norm which follows can lead signals past it."""
        weight, (geometry, _) = bound.roles["weight"], bound.settings
        if weight is None or not plain(bound.x):
            return function(*args, **kwargs)
        moves = geometry.stride, geometry.padding, geometry.dilation, False, (0,) * len(geometry.stride)
        alone = torch.convolution(bound.x.detach(), weight, bound.roles["bias"], *moves, geometry.groups)
        apart = Apart(bound, weight.detach(), alone)
        y = with_signal(bound.x, alone, apart.signal())
        y.apart = replace(apart, version=y._version)  # pyright: ignore[reportAttributeAccessIssue]
        return y

    def patches(self, call: Call) -> Tensor:
        geometry, shape = call.settings
        x, kernel = call.x, shape[2:]
        if geometry.pointwise(shape):
            # A pixel is its own patch: nothing to copy.
            return self._regroup(call, x)
        if len(kernel) > 2:
            # One filter for each entry of a patch.
            i = math.prod(shape[1:])
            return self.projected(call, torch.eye(i, device=x.device, dtype=x.dtype).repeat(geometry.groups, 1))
        if len(kernel) == 1:
            x = x.unsqueeze(2)
        unfolded = F.unfold(
            x,
            _plane(kernel, 1),
            _plane(geometry.dilation, 1),
            _plane(geometry.padding, 0),
            _plane(geometry.stride, 1),
        )
        return self._regroup(call, unfolded)

    def signal(self, call: Call, delta: Tensor) -> Tensor:
        signal, factor = self.factors(call, delta, 0)
        return signal if factor is None else signal * factor

    def factors(self, call: Call, delta: Tensor, columns: int) -> tuple[Tensor, Tensor | None]:
        """The scale with the smaller of the two: the signal, or the product; without columns as it is."""
        signal, scale = self._regroup(call, delta), call.settings[0].scale
        if scale is None:
            return signal, None
        factor = scale.reshape(call.settings[0].groups, -1, 1)
        return (signal * factor, None) if columns > signal.shape[-1] else (signal, factor)

    def projected(self, call: Call, filters: Tensor) -> Tensor:
        """F a as one convolution, no unfold."""
        geometry, shape = call.settings
        filters = filters.reshape(len(filters), *shape[1:])
        convolve = (F.conv1d, F.conv2d, F.conv3d)[len(shape) - 3]
        y = convolve(call.x, filters, None, geometry.stride, geometry.padding, geometry.dilation, geometry.groups)
        return self._regroup(call, y)

    def side(self, call: Call) -> Tensor:
        """Patches; of a depthwise convolution, and in three dimensions, x itself or its strips, which are smaller."""
        if not by_groups(call):
            return self.patches(call)
        return strips(call) if in_strips(call) else call.x

    def side_numbers(self, call: Call) -> int:
        """The patches of a spatial convolution, or its strips."""
        _, shape = call.settings
        if by_groups(call):
            return strips(call.outline()).numel() // call.b if in_strips(call) else 0
        if math.prod(shape[2:]) == 1:
            return 0
        groups, outputs, inputs = self.matrix_shape(call)
        return groups * inputs * (call.size // (groups * outputs))

    def gradients(self, call: Call, side: Tensor, delta: Tensor, room: Room | None = None) -> dict[str, Tensor]:
        if not by_groups(call):
            return super().gradients(call, side, delta, room)
        found = {}
        if "weight" in call.leaves:
            gradient = strips_gradient if in_strips(call) else call_gradient
            found["weight"] = gradient(call, side, delta)
            if (scale := call.settings[0].scale) is not None:
                found["weight"].mul_(scale.reshape(-1, *(1,) * (found["weight"].ndim - 2)))
        if "bias" in call.leaves:
            found["bias"] = self.signal(call, delta).sum(-1)
        return found

    def by_products(self, call: Call) -> bool:
        return not by_groups(call)

    def matrix_shape(self, call: Call) -> tuple[int, int, int]:
        geometry, shape = call.settings
        return geometry.groups, shape[0] // geometry.groups, math.prod(shape[1:])

    def _regroup(self, call: Call, values: Tensor) -> Tensor:
        """(b·n, channels, …) → (b, g, channels/g, n·positions)."""
        groups = call.settings[0].groups
        if len(values) == call.b:
            return values.reshape(call.b, groups, values.shape[1] // groups, -1)
        rows = by_input(values.flatten(2), call.b).transpose(1, 2)
        return rows.reshape(call.b, groups, values.shape[1] // groups, -1)


class TransposedConvolution(Operation):
    """y = the map back of a convolution with kernel W (i, o/g, …)."""

    def bind(
        self,
        input: Tensor,
        weight: Tensor,
        bias: Tensor | None = None,
        stride: int | tuple[int, ...] = 1,
        padding: int | tuple[int, ...] = 0,
        output_padding: int | tuple[int, ...] = 0,
        groups: int = 1,
        dilation: int | tuple[int, ...] = 1,
    ) -> Arguments | None:
        axes = weight.ndim - 2
        if input.ndim != weight.ndim:
            return None
        stride, padding, dilation = (_each(value, axes) for value in (stride, padding, dilation))
        geometry = Geometry(stride, padding, dilation, groups, True, _each(output_padding, axes))
        return Arguments(input, {"weight": weight, "bias": bias}, (geometry, weight.shape))

    def gradients(self, call: Call, side: Tensor, delta: Tensor) -> dict[str, Tensor]:
        found = {}
        if "weight" in call.leaves:
            found["weight"] = call_gradient(call, side, delta)
        if "bias" in call.leaves:
            found["bias"] = by_input(delta.flatten(2), call.b).sum((1, 3))
        return found


def _each(value: int | tuple[int, ...], axes: int) -> tuple[int, ...]:
    """One number for each axis."""
    values = (value,) if isinstance(value, int) else tuple(value)
    return values * axes if len(values) == 1 else values


def _plane(values: tuple[int, ...], alone: int) -> tuple[int, ...]:
    """Numbers of one or two axes as those of a plane."""
    return (alone, *values) if len(values) == 1 else tuple(values)


def _named_padding(
    x: Tensor, name: str, kernel: tuple[int, ...], dilation: tuple[int, ...]
) -> tuple[Tensor, tuple[int, ...]]:
    """The input and the padding in pixels that "same" or "valid" mean."""
    total = [d * (size - 1) if name == "same" else 0 for size, d in zip(kernel, dilation, strict=True)]
    if any(t % 2 for t in total):
        # What is odd goes to the end of its axis.
        x = F.pad(x, [n for t in reversed(total) for n in (0, t % 2)])
    return x, tuple(t // 2 for t in total)
