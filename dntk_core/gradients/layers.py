"""Layer kinds whose per-sample gradients follow from what went in (x) and the signal that came back (δ).

Matrix layers (linear, convolution): ∂f/∂W = Σ_positions δ ⊗ a, a = the input patch at that position.
Norm layers: ∂f/∂γ = Σ δ·x̂, ∂f/∂β = Σ δ. Embeddings: row v of ∂f/∂W = Σ_{positions with token v} δ.
A rule's `side` is what its gradients need of x, once for all logits; `gradients` are those of (weight, bias).
The first axis of x and δ is the batch (b); g are groups, T positions.
"""

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from dntk_core.gradients.equivalents import FrozenBatchNorm, PerInput


class LinearRule:
    """y = W a + b over the last axis; every other axis is a position."""

    def supports(self, module: nn.Linear) -> bool:
        return True

    def patches(self, module: nn.Linear, x: Tensor) -> Tensor:
        """Input side a, (b, 1, i, T)."""
        return x.reshape(len(x), -1, x.shape[-1]).transpose(1, 2).unsqueeze(1)

    def signal(self, module: nn.Linear, delta: Tensor) -> Tensor:
        """Output side δ, (b, 1, o, T)."""
        return delta.reshape(len(delta), -1, delta.shape[-1]).transpose(1, 2).unsqueeze(1)

    def projected(self, module: nn.Linear, x: Tensor, filters: Tensor) -> Tensor:
        """F a for random filters F (r, i): (b, 1, r, T)."""
        return self.patches(module, F.linear(x, filters))

    def side(self, module: nn.Linear, x: Tensor) -> Tensor:
        return self.patches(module, x)

    def gradients(self, module: nn.Linear, side: Tensor, delta: Tensor) -> tuple[Tensor, Tensor | None]:
        signal = self.signal(module, delta)
        return signal @ side.transpose(-1, -2), _bias_gradient(module, signal)

    def matrix_shape(self, module: nn.Linear) -> tuple[int, int, int]:
        """(groups, outputs per group, inputs per group) of W as a matrix."""
        return 1, *module.weight.shape


class Conv2dRule:
    """y = W ∗ x; a position is an output pixel, a its input patch, any stride, dilation and groups."""

    def supports(self, module: nn.Conv2d) -> bool:
        return module.padding_mode == "zeros" and not isinstance(module.padding, str)

    def patches(self, module: nn.Conv2d, x: Tensor) -> Tensor:
        """Input side a, (b, g, i, T)."""
        if module.kernel_size == module.stride == (1, 1) and module.padding == (0, 0):
            # A pixel is its own patch: nothing to copy.
            return x.reshape(len(x), module.groups, x.shape[1] // module.groups, -1)
        unfolded = F.unfold(x, module.kernel_size, module.dilation, module.padding, module.stride)
        return unfolded.reshape(len(x), module.groups, -1, unfolded.shape[-1])

    def signal(self, module: nn.Conv2d, delta: Tensor) -> Tensor:
        """Output side δ, (b, g, o, T)."""
        return delta.reshape(len(delta), module.groups, delta.shape[1] // module.groups, -1)

    def projected(self, module: nn.Conv2d, x: Tensor, filters: Tensor) -> Tensor:
        """F a for random filters F (g·r, i), as one convolution, no unfold: (b, g, r, T)."""
        filters = filters.reshape(len(filters), *module.weight.shape[1:])
        y = F.conv2d(x, filters, None, module.stride, module.padding, module.dilation, module.groups)
        return self.signal(module, y)

    def side(self, module: nn.Conv2d, x: Tensor) -> Tensor:
        """Patches; of a depthwise convolution x itself, a ninth of them for 3 × 3."""
        return x if _depthwise(module) else self.patches(module, x)

    def gradients(self, module: nn.Conv2d, side: Tensor, delta: Tensor) -> tuple[Tensor, Tensor | None]:
        signal = self.signal(module, delta)
        if _depthwise(module):
            return _depthwise_gradient(module, side, delta), _bias_gradient(module, signal)
        return signal @ side.transpose(-1, -2), _bias_gradient(module, signal)

    def matrix_shape(self, module: nn.Conv2d) -> tuple[int, int, int]:
        """(groups, outputs per group, inputs per group) of W as a matrix."""
        return module.groups, len(module.weight) // module.groups, module.weight[0].numel()


class BatchNormRule:
    """y = γ x̂ + β with running statistics (the network is in eval mode)."""

    def supports(self, module) -> bool:
        return module.track_running_stats and module.running_mean is not None

    def side(self, module, x: Tensor) -> Tensor:
        return x.contiguous()

    def gradients(self, module, side: Tensor, delta: Tensor) -> tuple[Tensor, Tensor]:
        """Σ δ·x̂ and Σ δ in one pass: the weight gradients of a single input with b·channels channels."""
        b = len(side)
        x, signal = (t.reshape(1, b * module.num_features, -1, 1) for t in (side, delta))
        mean, var = (t.expand(b, -1).reshape(-1) for t in (module.running_mean, module.running_var))
        _, weight, bias = torch.ops.aten.native_batch_norm_backward(
            signal, x, None, mean, var, None, None, False, module.eps, (False, True, True)
        )
        return weight.reshape(b, -1), bias.reshape(b, -1)


class GroupNormRule:
    """y = γ x̂ + β, x̂ normalised over groups of channels."""

    def supports(self, module: nn.GroupNorm) -> bool:
        return True

    def side(self, module: nn.GroupNorm, x: Tensor) -> Tensor:
        return F.group_norm(x, module.num_groups, eps=module.eps)

    def gradients(self, module: nn.GroupNorm, side: Tensor, delta: Tensor) -> tuple[Tensor, Tensor]:
        weight, bias = (t.reshape(*t.shape[:2], -1).sum(-1) for t in (delta * side, delta))
        return weight, bias


class LayerNormRule:
    """y = γ x̂ + β, x̂ normalised over the last axes."""

    def supports(self, module: nn.LayerNorm) -> bool:
        return True

    def side(self, module: nn.LayerNorm, x: Tensor) -> Tensor:
        return F.layer_norm(x, module.normalized_shape, eps=module.eps)

    def gradients(self, module: nn.LayerNorm, side: Tensor, delta: Tensor) -> tuple[Tensor, Tensor]:
        size = math.prod(module.normalized_shape)
        weight, bias = (t.reshape(len(t), -1, size).sum(1) for t in (delta * side, delta))
        return weight, bias


class EmbeddingRule:
    """y = W[token]."""

    def supports(self, module: nn.Embedding) -> bool:
        plain = not module.scale_grad_by_freq and not module.sparse
        return plain and module.padding_idx is None and module.max_norm is None

    def side(self, module: nn.Embedding, x: Tensor) -> Tensor:
        return x

    def gradients(self, module: nn.Embedding, side: Tensor, delta: Tensor) -> tuple[Tensor, None]:
        """Sum δ into the rows of its tokens: (b, V, D)."""
        b, D = len(side), module.embedding_dim
        rows = delta.new_zeros(b, module.num_embeddings, D)
        index = side.reshape(b, -1, 1).expand(-1, -1, D)
        return rows.scatter_add_(1, index, delta.reshape(b, -1, D)), None


class PerInputRule:
    """y_i = W for every input i: the signal at an input's own copy is its gradient."""

    def supports(self, module: PerInput) -> bool:
        return True

    def side(self, module: PerInput, x: Tensor) -> Tensor:
        return x

    def gradients(self, module: PerInput, side: Tensor, delta: Tensor) -> tuple[Tensor, None]:
        return delta.clone(), None


# Methods that say what a layer computes, and kinds that override them and compute the same.
FORWARD = ("forward", "_conv_forward", "_check_input_dim")
SAME = ("timm.layers.norm.LayerNorm", "timm.layers.norm.GroupNorm")
RULES = {
    nn.Linear: LinearRule(),
    nn.Conv2d: Conv2dRule(),
    nn.BatchNorm1d: BatchNormRule(),
    nn.BatchNorm2d: BatchNormRule(),
    nn.BatchNorm3d: BatchNormRule(),
    FrozenBatchNorm: BatchNormRule(),
    nn.GroupNorm: GroupNormRule(),
    nn.LayerNorm: LayerNormRule(),
    nn.Embedding: EmbeddingRule(),
    PerInput: PerInputRule(),
}


def rule_of(module: nn.Module):
    """The rule of a module's kind, or of the kind whose forward it inherits; None without.

    What overrides its forward may do anything on inputs that no example shows, so its parameters take the general path.
    """
    kind = next((kind for kind in type(module).__mro__ if kind in RULES), None)
    same = kind is not None and all(getattr(type(module), name, None) is getattr(kind, name, None) for name in FORWARD)
    named = f"{type(module).__module__}.{type(module).__qualname__}"
    return RULES[kind] if same or (kind is not None and named in SAME) else None


def matrix_rule_of(module: nn.Module) -> LinearRule | Conv2dRule | None:
    """The rule of a layer whose weight is a matrix."""
    rule = rule_of(module)
    return rule if isinstance(rule, LinearRule | Conv2dRule) else None


def patch_numbers(module: nn.Module, shape: tuple[int, ...]) -> int:
    """Numbers that an input side holds for one input beside the input itself: the patches of a spatial convolution."""
    rule = rule_of(module)
    if not isinstance(rule, Conv2dRule) or _depthwise(module) or math.prod(module.weight.shape[2:]) == 1:
        return 0
    groups, outputs, inputs = rule.matrix_shape(module)
    return groups * inputs * math.prod(shape) // (groups * outputs)


def input_side(module: nn.Module, x: Tensor) -> Tensor:
    """What a layer's gradients need of its input, the same for all logits."""
    return rule_of(module).side(module, x)


def per_sample_gradients(module: nn.Module, side: Tensor, delta: Tensor) -> dict[str, Tensor]:
    """Form ∂f/∂parameter of each input, flattened in the parameter's own order; the caller may overwrite them.

    side: the input side of what went into the module, delta: ∂f/∂(its output); returns attribute name → (b, p).
    """
    gradients = dict(zip(("weight", "bias"), rule_of(module).gradients(module, side, delta), strict=True))
    return {name: gradients[name].flatten(1) for name in trainable(module)}


def trainable(module: nn.Module) -> tuple[str, ...]:
    """Names of the module's own parameters that require a gradient."""
    return tuple(name for name, p in module.named_parameters(recurse=False) if p.requires_grad)


def _bias_gradient(module: nn.Module, signal: Tensor) -> Tensor | None:
    return None if module.bias is None else signal.sum(-1)


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
