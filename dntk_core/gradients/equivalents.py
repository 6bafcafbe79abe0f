"""Modules that compute what PyTorch's own do, in a form whose per-sample gradients are cheap to take."""

from copy import deepcopy
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn


class FrozenBatchNorm(nn.modules.batchnorm._BatchNorm):
    """Batch norm with running statistics as y = scale·x + shift: its signal is one product."""

    def _check_input_dim(self, input: Tensor) -> None:
        pass

    def forward(self, input: Tensor) -> Tensor:
        mean, var = self.get_buffer("running_mean"), self.get_buffer("running_var")
        scale = self.weight * torch.rsqrt(var + self.eps)
        shift = self.bias - mean * scale
        shape = (-1, *(1,) * (input.ndim - 2))
        return torch.addcmul(shift.reshape(shape), input, scale.reshape(shape))


class SelfAttention(nn.MultiheadAttention):
    """Attention of a sequence to itself with both of its projections as linear layers."""

    inward: nn.Linear

    def forward(
        self, query: Tensor, key: Tensor, value: Tensor, *args: Any, need_weights: bool = True, **options: Any
    ) -> tuple[Tensor, Tensor | None]:
        plain = query is key is value and not args and not any(v is not None for v in options.values())
        if need_weights or not plain or query.ndim != 3:
            return super().forward(query, key, value, *args, need_weights=need_weights, **options)
        b, T, D = query.shape
        q, k, v = self.inward(query).reshape(b, T, 3, self.num_heads, -1).permute(2, 0, 3, 1, 4)
        mixed = F.scaled_dot_product_attention(q, k, v)
        return self.out_proj(mixed.transpose(1, 2).reshape(b, T, D)), None


class PerInput(nn.Module):
    """A parameter that no layer owns, one copy for each input of a batch."""

    def __init__(self, parameter: nn.Parameter):
        super().__init__()
        self.weight = parameter

    def forward(self, x: Tensor) -> Tensor:
        """Inputs x (b, …) to copies (b, …); an axis of length 1 in front becomes the batch."""
        shape = self.weight.shape
        return self.weight.expand(len(x), *(shape[1:] if shape[:1] == (1,) else shape))


def equivalent(module: nn.Module) -> nn.Module:
    """Copy a network's structure around the same parameters and buffers, with the modules above in their places."""
    copy = deepcopy(module, {id(t): t for t in (*module.parameters(), *module.buffers())})
    for part in list(copy.modules()):
        # A change of class keeps every attribute that the network's own code may ask for.
        if type(part) in (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d) and part.affine and part.track_running_stats:
            part.__class__ = FrozenBatchNorm
        elif type(part) is nn.MultiheadAttention and _projects_together(part):
            part.__class__ = SelfAttention
            part.inward = _linear(part.in_proj_weight, part.in_proj_bias)
    return copy


def _projects_together(part: nn.MultiheadAttention) -> bool:
    return part.batch_first and part._qkv_same_embed_dim and part.bias_k is None and not part.add_zero_attn


def _linear(weight: nn.Parameter, bias: nn.Parameter | None) -> nn.Linear:
    """A linear layer around given parameters."""
    layer = nn.Linear(weight.shape[1], weight.shape[0], bias=bias is not None, device="meta")
    layer.weight = weight
    if bias is not None:
        layer.bias = bias
    return layer
