"""Norms: y = γ x̂ + β, so ∂f/∂γ = Σ δ·x̂ and ∂f/∂β = Σ δ."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

from dntk_core.gradients.rules.operation import Arguments, Call, Operation, by_input
from dntk_core.gradients.rules.products import with_signal

# Pixels of a channel up to which sums are products with ones.
SMALL = 16


@dataclass(frozen=True)
class Statistics:
    """Running mean and variance of every channel."""

    mean: Tensor
    var: Tensor
    eps: float


class BatchNorm(Operation):
    """x̂ by running statistics: the network is in eval mode."""

    def bind(
        self,
        input: Tensor,
        running_mean: Tensor | None,
        running_var: Tensor | None,
        weight: Tensor | None = None,
        bias: Tensor | None = None,
        training: bool = False,
        momentum: float = 0.1,
        eps: float = 1e-5,
    ) -> Arguments | None:
        if training or running_mean is None or running_var is None:
            return None
        return Arguments(input, {"weight": weight, "bias": bias}, Statistics(running_mean, running_var, eps))

    def compute(self, function: Callable, args: tuple, kwargs: dict, bound: Arguments) -> Tensor:
        """y = scale·x + shift: its signal is one product."""
        statistics, weight, bias = bound.settings, bound.roles["weight"], bound.roles["bias"]
        if weight is None or bias is None:
            return function(*args, **kwargs)
        scale = weight * torch.rsqrt(statistics.var + statistics.eps)
        shift = bias - statistics.mean * scale
        shape = (-1, *(1,) * (bound.x.ndim - 2))
        shift, factor = shift.reshape(shape), scale.reshape(shape)
        apart = getattr(bound.x, "apart", None)
        if apart is None or apart.version != bound.x._version:
            return torch.addcmul(shift, bound.x, factor)
        # Signals go past the convolution in front, to its input, in one step.
        y = with_signal(apart.bound.x, torch.addcmul(shift, apart.y, factor), apart.signal(scale))
        y.past = bound.x, apart.scaled(scale)  # pyright: ignore[reportAttributeAccessIssue]
        return y

    def side(self, call: Call) -> Tensor:
        """x; x̂ for channels of few pixels."""
        statistics, x = call.settings, call.x.contiguous()
        if not _small(x):
            return x
        shape = (-1, *(1,) * (x.ndim - 2))
        mean, var = (t.float().reshape(shape) for t in (statistics.mean, statistics.var))
        return (x - mean) * torch.rsqrt(var + statistics.eps)

    def side_numbers(self, call: Call) -> int:
        return call.size if _small(call.x) else 0

    def gradients(self, call: Call, side: Tensor, delta: Tensor) -> dict[str, Tensor]:
        """Σ δ·x̂ and Σ δ in one pass: the weight gradients of a single input with rows·channels channels."""
        statistics, rows = call.settings, len(side)
        if _small(side):
            return self._of_small_maps(call, side, delta)
        x, signal = (t.reshape(1, rows * t.shape[1], -1, 1) for t in (side, delta))
        mean, var = (t.float().expand(rows, -1).reshape(-1) for t in (statistics.mean, statistics.var))
        _, weight, bias = torch.ops.aten.native_batch_norm_backward(
            signal, x, None, mean, var, None, None, False, statistics.eps, (False, True, True)
        )
        found = {"weight": weight.reshape(rows, -1), "bias": bias.reshape(rows, -1)}
        return {role: g if rows == call.b else by_input(g, call.b).sum(1) for role, g in found.items()}

    def _of_small_maps(self, call: Call, side: Tensor, delta: Tensor) -> dict[str, Tensor]:
        """The same as products, for channels of few pixels, of which the other way does one at a time."""
        ones = delta.new_ones(side[0, 0].numel())
        sums = (values.reshape(*side.shape[:2], -1) @ ones for values in (delta * side, delta))
        moment, total = (each if len(each) == call.b else by_input(each, call.b).sum(1) for each in sums)
        return {"weight": moment, "bias": total}


def _small(x: Tensor) -> bool:
    """Whether channels have few pixels."""
    return x[0, 0].numel() <= SMALL


class Norm(Operation):
    """x̂ computed once per input for all logits; γ and β over some axes."""

    def gradients(self, call: Call, side: Tensor, delta: Tensor) -> dict[str, Tensor]:
        found = {}
        if "weight" in call.leaves:
            found["weight"] = self.total(call, delta * side)
        if "bias" in call.leaves:
            found["bias"] = self.total(call, delta)
        return found

    def total(self, call: Call, values: Tensor) -> Tensor:
        """Sum over all positions that share γ and β: (b, p)."""
        raise NotImplementedError


class GroupNorm(Norm):
    """x̂ normalised over groups of channels."""

    def bind(
        self,
        input: Tensor,
        num_groups: int,
        weight: Tensor | None = None,
        bias: Tensor | None = None,
        eps: float = 1e-5,
    ) -> Arguments | None:
        return Arguments(input, {"weight": weight, "bias": bias}, (num_groups, eps))

    def side(self, call: Call) -> Tensor:
        groups, eps = call.settings
        return F.group_norm(call.x, groups, eps=eps)

    def total(self, call: Call, values: Tensor) -> Tensor:
        sums = values.reshape(*values.shape[:2], -1).sum(-1)
        return sums if len(sums) == call.b else by_input(sums, call.b).sum(1)


class InstanceNorm(GroupNorm):
    """x̂ normalised for every channel by itself."""

    def bind(
        self,
        input: Tensor,
        running_mean: Tensor | None = None,
        running_var: Tensor | None = None,
        weight: Tensor | None = None,
        bias: Tensor | None = None,
        use_input_stats: bool = True,
        momentum: float = 0.1,
        eps: float = 1e-5,
    ) -> Arguments | None:
        return Arguments(input, {"weight": weight, "bias": bias}, (input.shape[1], eps)) if use_input_stats else None


class LayerNorm(Norm):
    """x̂ normalised over the last axes."""

    def bind(
        self,
        input: Tensor,
        normalized_shape: tuple[int, ...],
        weight: Tensor | None = None,
        bias: Tensor | None = None,
        eps: float = 1e-5,
    ) -> Arguments | None:
        return Arguments(input, {"weight": weight, "bias": bias}, (tuple(normalized_shape), eps))

    def side(self, call: Call) -> Tensor:
        shape, eps = call.settings
        return F.layer_norm(call.x, shape, eps=eps)

    def total(self, call: Call, values: Tensor) -> Tensor:
        return values.reshape(call.b, -1, math.prod(call.settings[0])).sum(1)


class RMSNorm(LayerNorm):
    """x̂ = x over its root mean square along the last axes."""

    def bind(
        self, input: Tensor, normalized_shape: tuple[int, ...], weight: Tensor | None = None, eps: float | None = None
    ) -> Arguments | None:
        return Arguments(input, {"weight": weight}, (tuple(normalized_shape), eps))

    def side(self, call: Call) -> Tensor:
        shape, eps = call.settings
        return F.rms_norm(call.x, shape, eps=eps)
