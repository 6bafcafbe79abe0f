"""Matrix products of float32 on a CPU by oneDNN: on AMD's with AVX-512, which MKL does not use there, twice as fast."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

# Multiplications from which a product is worth a call of its own, the rows and columns it must have, and in what number
# they fill registers.
WORTH_A_CALL, WIDE, REGISTER = 2**21, 48, 16


def plain(like: Tensor) -> bool:
    """Whether numbers are float32 on a CPU, or only outlined."""
    on_cpu = like.device.type in ("cpu", "meta") and not torch.is_autocast_enabled("cpu")
    return on_cpu and like.dtype == torch.float32


def wider() -> bool:
    """Whether oneDNN may find wider registers than BLAS uses; with AVX2 alone both are as fast, and fewer calls win."""
    return torch.backends.mkldnn.is_available() and torch.backends.cpu.get_cpu_capability() == "AVX512"


def quick(like: Tensor, rows: int, columns: int, summed: int) -> bool:
    """Whether a product (rows, summed) × (summed, columns) is faster by oneDNN than in a batch by BLAS."""
    return plain(like) and wider() and min(rows, columns) >= WIDE and rows * columns * summed >= WORTH_A_CALL


def quick_outer(like: Tensor, o: int, i: int, positions: int) -> bool:
    """Whether the product (o, positions) × (positions, i) of one input is; a narrow side must fill registers."""
    least = min(o, i)
    suits = least >= WIDE or least % REGISTER == 0
    return plain(like) and wider() and suits and o * i * positions >= WORTH_A_CALL


def pointwise_signal(kernel: Tensor) -> Callable[[Tensor], Tensor]:
    """δ → Wᵀδ at every pixel by oneDNN, which autograd leaves to BLAS for few inputs; kernel: W, (o, i, 1, 1)."""
    backwards = kernel.transpose(0, 1).contiguous()

    def signal(delta: Tensor) -> Tensor:
        if _batched(delta):
            return torch.conv2d(delta, backwards)
        return torch.ops.aten.mkldnn_convolution(delta, backwards, None, [0, 0], [1, 1], [1, 1], 1)

    return signal


def times_transposed(a: Tensor, b: Tensor) -> Tensor:
    """a bᵀ for a (…, s) and b (columns, s), without a graph."""
    return torch.ops.mkldnn._linear_pointwise(a, b, None, "none", [], "")


def linear_signal(backwards: Tensor) -> Callable[[Tensor], Tensor]:
    """δ → Wᵀδ by oneDNN; backwards: Wᵀ, (i, o)."""

    def signal(delta: Tensor) -> Tensor:
        if _batched(delta):
            return delta @ backwards.t()
        return times_transposed(delta.contiguous(), backwards)

    return signal


def _batched(delta: Tensor) -> bool:
    """Whether several signals are led back at once by vmap, which knows no oneDNN."""
    return torch._C._functorch.is_batchedtensor(delta)  # pyright: ignore[reportAttributeAccessIssue]


def with_signal(x: Tensor, y: Tensor, signal: Callable[[Tensor], Tensor]) -> Tensor:
    """y, which was computed of x without its graph, with a way of its own to lead signals back to x."""
    return _Signal.apply(x, y, signal)


class _Signal(torch.autograd.Function):
    """Hand y on. What comes back goes to x as `signal` says, and to y's own graph, where only parameters are."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, y: Tensor, signal: Callable[[Tensor], Tensor]) -> Tensor:
        ctx.signal = signal
        return y.detach()

    @staticmethod
    def backward(ctx: Any, delta: Tensor) -> tuple[Tensor | None, Tensor, None]:
        return ctx.signal(delta) if ctx.needs_input_grad[0] else None, delta, None
