"""Mean and variance of what goes into a layer, image by image, with a backward pass of one product."""

from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True)
class Moments:
    """Mean and variance over positions of one batch-norm layer's input, image by image: (b, channels) each."""

    mean: Tensor
    variance: Tensor


def watched(y: Tensor) -> tuple[Tensor, Moments]:
    """Return y (b, channels, …) for the layer to go on with, and its moments in float32."""
    y, mean, variance = _Watched.apply(y)
    return y, Moments(mean, variance.clamp(min=0))


class _Watched(torch.autograd.Function):
    """y ↦ (y, μ, σ²) over the T positions; ∂/∂y of all three at once: g + y·2g_σ²/T + (g_μ - 2μ g_σ²)/T.

    Three branches of autograd's own would each make a copy of every activation.
    """

    @staticmethod
    def forward(ctx, y: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        flat = y.reshape(*y.shape[:2], -1).float()
        mean = flat.mean(2)
        # From a sum of squares: torch.var_mean is thirty times slower on the CPU, slower than the network itself.
        square = torch.linalg.vector_norm(flat, dim=2).square() / flat.shape[2]
        ctx.save_for_backward(y, mean)
        return y.view_as(y), mean, square - mean.square()

    @staticmethod
    def backward(ctx, *gradients: Tensor) -> Tensor:
        through, of_mean, of_variance = gradients
        y, mean = ctx.saved_tensors
        T = y[0, 0].numel()
        factor = 2 / T * of_variance
        shift = of_mean / T - factor * mean
        shape = (*mean.shape, *(1 for _ in y.shape[2:]))
        factor, shift = (each.reshape(shape).to(through.dtype) for each in (factor, shift))
        return torch.addcmul(through + shift, y, factor)
