"""Convolutions: y = W ∗ x; a position is an output pixel, a its input patch; any stride, dilation and groups."""

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from dntk_core.gradients.rules.rule import MatrixRule, bias_gradient


class Conv2dRule(MatrixRule):
    """∂f/∂W = Σ_positions δ ⊗ a in every group."""

    def supports(self, module: nn.Conv2d) -> bool:
        return module.padding_mode == "zeros" and not isinstance(module.padding, str)

    def patches(self, module: nn.Conv2d, x: Tensor) -> Tensor:
        if module.kernel_size == module.stride == (1, 1) and module.padding == (0, 0):
            # A pixel is its own patch: nothing to copy.
            return x.reshape(len(x), module.groups, x.shape[1] // module.groups, -1)
        unfolded = F.unfold(x, module.kernel_size, module.dilation, _padding(module), module.stride)
        return unfolded.reshape(len(x), module.groups, -1, unfolded.shape[-1])

    def signal(self, module: nn.Conv2d, delta: Tensor) -> Tensor:
        return delta.reshape(len(delta), module.groups, delta.shape[1] // module.groups, -1)

    def projected(self, module: nn.Conv2d, x: Tensor, filters: Tensor) -> Tensor:
        """F a as one convolution, no unfold."""
        filters = filters.reshape(len(filters), *module.weight.shape[1:])
        y = F.conv2d(x, filters, None, module.stride, module.padding, module.dilation, module.groups)
        return self.signal(module, y)

    def side(self, module: nn.Conv2d, x: Tensor) -> Tensor:
        """Patches; of a depthwise convolution x itself, a ninth of them for 3 × 3."""
        return x if _depthwise(module) else self.patches(module, x)

    def side_numbers(self, module: nn.Conv2d, shape: tuple[int, ...]) -> int:
        """The patches of a spatial convolution."""
        if _depthwise(module) or math.prod(module.weight.shape[2:]) == 1:
            return 0
        groups, outputs, inputs = self.matrix_shape(module)
        return groups * inputs * math.prod(shape) // (groups * outputs)

    def gradients(self, module: nn.Conv2d, side: Tensor, delta: Tensor) -> tuple[Tensor, Tensor | None]:
        signal = self.signal(module, delta)
        if _depthwise(module):
            return _depthwise_gradient(module, side, delta), bias_gradient(module, signal)
        return signal @ side.transpose(-1, -2), bias_gradient(module, signal)

    def matrix_shape(self, module: nn.Conv2d) -> tuple[int, int, int]:
        return module.groups, len(module.weight) // module.groups, module.weight[0].numel()


def _padding(module: nn.Conv2d) -> tuple[int, ...]:
    """The padding in pixels; `supports` refuses padding by name."""
    return () if isinstance(module.padding, str) else module.padding


def _depthwise(module: nn.Conv2d) -> bool:
    return module.groups == module.in_channels > 1


def _depthwise_gradient(module: nn.Conv2d, x: Tensor, delta: Tensor) -> Tensor:
    """Weight gradients of all inputs as those of a single input with b·channels channels: (b, o, 1, h, w)."""
    b = len(x)
    x, delta = x.reshape(1, -1, *x.shape[2:]), delta.reshape(1, -1, *delta.shape[2:])
    # Of the weight only its shape matters.
    weight = x.new_empty(b * len(module.weight), *module.weight.shape[1:])
    geometry = module.stride, module.padding, module.dilation, False, (0, 0), b * module.groups
    _, gradient, _ = torch.ops.aten.convolution_backward(delta, x, weight, None, *geometry, (False, True, False))
    return gradient.reshape(b, *module.weight.shape)
