"""Norm layers: y = γ x̂ + β, so ∂f/∂γ = Σ δ·x̂ and ∂f/∂β = Σ δ."""

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.modules.batchnorm import _BatchNorm

from dntk_core.gradients.rules.rule import Rule


class BatchNormRule(Rule):
    """x̂ by running statistics (the network is in eval mode)."""

    def supports(self, module: _BatchNorm) -> bool:
        return module.track_running_stats and module.running_mean is not None

    def side(self, module: _BatchNorm, x: Tensor) -> Tensor:
        return x.contiguous()

    def gradients(self, module: _BatchNorm, side: Tensor, delta: Tensor) -> tuple[Tensor, Tensor]:
        """Σ δ·x̂ and Σ δ in one pass: the weight gradients of a single input with b·channels channels."""
        b = len(side)
        x, signal = (t.reshape(1, b * module.num_features, -1, 1) for t in (side, delta))
        running = (module.running_mean, module.running_var)
        mean, var = (t.expand(b, -1).reshape(-1) for t in running if t is not None)
        _, weight, bias = torch.ops.aten.native_batch_norm_backward(
            signal, x, None, mean, var, None, None, False, module.eps, (False, True, True)
        )
        return weight.reshape(b, -1), bias.reshape(b, -1)


class GroupNormRule(Rule):
    """x̂ normalised over groups of channels."""

    def side(self, module: nn.GroupNorm, x: Tensor) -> Tensor:
        return F.group_norm(x, module.num_groups, eps=module.eps)

    def gradients(self, module: nn.GroupNorm, side: Tensor, delta: Tensor) -> tuple[Tensor, Tensor]:
        weight, bias = (t.reshape(*t.shape[:2], -1).sum(-1) for t in (delta * side, delta))
        return weight, bias


class LayerNormRule(Rule):
    """x̂ normalised over the last axes."""

    def side(self, module: nn.LayerNorm, x: Tensor) -> Tensor:
        return F.layer_norm(x, module.normalized_shape, eps=module.eps)

    def gradients(self, module: nn.LayerNorm, side: Tensor, delta: Tensor) -> tuple[Tensor, Tensor]:
        size = math.prod(module.normalized_shape)
        weight, bias = (t.reshape(len(t), -1, size).sum(1) for t in (delta * side, delta))
        return weight, bias
