"""Weight gradients of convolutions whose groups are many: by autograd's own operation, all inputs as one."""

import math
from dataclasses import dataclass, replace

import torch
import torch.nn.functional as F
from torch import Tensor

from dntk_core.gradients.rules.operation import Call, by_input

# Columns of a depthwise kernel whose gradient is taken at once; oneDNN has a kernel of its own up to this width.
STRIP = 3


@dataclass(frozen=True)
class Geometry:
    """How a kernel moves over its input, one number for each axis in space.

    scale: what a norm behind it multiplies every channel with, where the signal is that of the norm; None for 1
    """

    stride: tuple[int, ...]
    padding: tuple[int, ...]
    dilation: tuple[int, ...]
    groups: int
    transposed: bool = False
    output_padding: tuple[int, ...] = ()
    scale: Tensor | None = None

    def pointwise(self, shape: tuple[int, ...]) -> bool:
        """Whether a kernel (o, i/groups, …) takes every pixel by itself."""
        return math.prod(shape[2:]) == 1 and set(self.stride) == {1} and set(self.padding) == {0}


def call_gradient(call: Call, x: Tensor, delta: Tensor) -> Tensor:
    """Weight gradients of all inputs: (b, *shape of W)."""
    geometry, shape = call.settings
    return weight_gradient(geometry, shape, call.b, x, delta)


def weight_gradient(geometry: Geometry, shape: tuple[int, ...], b: int, x: Tensor, delta: Tensor) -> Tensor:
    """Weight gradients of all inputs as those of a single input with b·channels channels: (b, *shape of W)."""
    rows = len(x)
    x, delta = x.reshape(1, -1, *x.shape[2:]), delta.reshape(1, -1, *delta.shape[2:])
    # Of the weight only its shape matters.
    weight = x.new_empty(rows * shape[0], *shape[1:])
    _, gradient, _ = torch.ops.aten.convolution_backward(
        delta,
        x,
        weight,
        None,
        geometry.stride,
        geometry.padding,
        geometry.dilation,
        geometry.transposed,
        geometry.output_padding or (0,) * len(geometry.stride),
        rows * geometry.groups,
        (False, True, False),
    )
    gradient = gradient.reshape(rows, *shape)
    return gradient if rows == b else by_input(gradient, b).sum(1)


def strips(call: Call) -> Tensor:
    """What each strip of a wide kernel's columns moves over, side by side: (strips, b·n, channels, height, width)."""
    geometry, shape = call.settings
    (vertical, horizontal), dilation, count = geometry.padding, geometry.dilation[1], math.ceil(shape[3] / STRIP)
    start = [STRIP * dilation * strip for strip in range(count)]
    width = (call.shape[-1] - 1) * geometry.stride[1] + dilation * (STRIP - 1) + 1
    beyond = max(0, start[-1] + width - call.x.shape[-1] - horizontal)
    x = F.pad(call.x, (horizontal, beyond, vertical, vertical))
    return torch.stack([x[..., left : left + width] for left in start])


def strips_gradient(call: Call, side: Tensor, delta: Tensor) -> Tensor:
    """The weight gradients of a depthwise convolution, strip by strip: kernels of few columns are many times faster."""
    geometry, shape = call.settings
    geometry = replace(geometry, padding=(0, 0))
    narrow = *shape[:3], STRIP
    columns = [weight_gradient(geometry, narrow, call.b, strip, delta) for strip in side]
    return torch.cat(columns, dim=-1)[..., : shape[3]]


def by_groups(call: Call) -> bool:
    """Whether a gradient is taken group by group: of a depthwise convolution, and in three dimensions."""
    geometry, shape = call.settings
    return len(shape) > 4 or (shape[1] == 1 and geometry.groups > 1)


def in_strips(call: Call) -> bool:
    """Whether a kernel on a plane is wider than a strip."""
    _, shape = call.settings
    return len(shape) == 4 and shape[3] > STRIP
