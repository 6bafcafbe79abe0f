"""Batch-norm layers watched: moments of what goes in, image by image, with backward passes of one product each."""

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn


@dataclass(frozen=True)
class Moments:
    """Mean and variance over positions of one batch-norm layer's input, image by image: (b, channels) each."""

    mean: Tensor
    variance: Tensor


def moments_of(y: Tensor) -> Moments:
    """Take mean and variance over positions, in float32: y (b, channels, …)."""
    mean, square = _Means.apply(y)
    return Moments(mean, (square - mean.square()).clamp(min=0))


def frozen(norm: nn.modules.batchnorm._BatchNorm, y: Tensor, out: Tensor) -> Tensor:
    """Return a layer's output for its input y; its backward pass only scales, where its statistics are fixed."""
    if norm.running_var is None:
        return out
    scale = (norm.running_var + norm.eps).rsqrt()
    if norm.weight is not None:
        scale = scale * norm.weight
    return _Scaled.apply(y, out.detach(), scale.reshape(-1, *(1 for _ in y.shape[2:])))


class _Means(torch.autograd.Function):
    """y ↦ (1/T) Σ_t y_t, (1/T) Σ_t y_t²; ∂/∂y of both at once, g_μ/T + y·2g_s/T: autograd's own makes two copies."""

    @staticmethod
    def forward(ctx: Any, y: Tensor) -> tuple[Tensor, Tensor]:
        ctx.save_for_backward(y)
        flat = y.reshape(*y.shape[:2], -1).float()
        # A sum of squares, since torch.var_mean takes longer than the network itself on the CPU; torch's norm is fast
        # along contiguous positions only.
        if flat.stride(2) == 1:
            return flat.mean(2), torch.linalg.vector_norm(flat, dim=2).square() / flat.shape[2]
        return flat.mean(2), flat.square().mean(2)

    @staticmethod
    def backward(ctx: Any, of_mean: Tensor, of_square: Tensor) -> Tensor:
        (y,) = ctx.saved_tensors
        T = y[0, 0].numel()
        shape = (*y.shape[:2], *(1 for _ in y.shape[2:]))
        shift, factor = ((each / T).reshape(shape).to(y.dtype) for each in (of_mean, 2 * of_square))
        return torch.addcmul(shift, y, factor)


class _Scaled(torch.autograd.Function):
    """y ↦ out = y·scale + shift, known already; ∂/∂y = g·scale: torch's own pass computes what is not asked for."""

    @staticmethod
    def forward(ctx: Any, y: Tensor, out: Tensor, scale: Tensor) -> Tensor:
        ctx.save_for_backward(scale)
        ctx.mark_dirty(out)
        return out

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None, None]:
        (scale,) = ctx.saved_tensors
        return gradient * scale.to(gradient.dtype), None, None
