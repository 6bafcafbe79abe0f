"""Matrix products of float32 on a CPU by oneDNN: where MKL does not know a processor, these are twice as fast."""

from typing import Any

import torch
from torch import Tensor

# Multiplications from which a product is worth a call of its own, and the rows and columns it must have.
WORTH_A_CALL, WIDE = 2**22, 48


def quick(like: Tensor, rows: int, columns: int, summed: int) -> bool:
    """Whether a product (rows, summed) × (summed, columns) is faster by oneDNN than in a batch by BLAS."""
    plain = like.device.type in ("cpu", "meta") and like.dtype == torch.float32
    there = torch.backends.mkldnn.is_available() and not torch.is_autocast_enabled("cpu")
    return plain and there and min(rows, columns) >= WIDE and rows * columns * summed >= WORTH_A_CALL


def times_transposed(a: Tensor, b: Tensor) -> Tensor:
    """a bᵀ for a (…, s) and b (columns, s), without a graph."""
    return torch.ops.mkldnn._linear_pointwise(a, b, None, "none", [], "")


def with_signal(x: Tensor, y: Tensor, backwards: Tensor) -> Tensor:
    """y = W x, computed of x without its graph, with a signal to x by oneDNN; backwards: Wᵀ, (i, o)."""
    return _Signal.apply(x, y, backwards)


class _Signal(torch.autograd.Function):
    """Hand y on. Its signal δ goes to x as Wᵀδ, and to y's own graph, where only parameters are, as it is."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, y: Tensor, backwards: Tensor) -> Tensor:
        ctx.backwards = backwards
        return y.detach()

    @staticmethod
    def backward(ctx: Any, delta: Tensor) -> tuple[Tensor, Tensor, None]:
        # vmap knows no oneDNN.
        if torch._C._functorch.is_batchedtensor(delta):  # pyright: ignore[reportAttributeAccessIssue]
            return delta @ ctx.backwards.t(), delta, None
        return times_transposed(delta.contiguous(), ctx.backwards), delta, None
