"""Layer kinds whose per-sample gradients follow from what went in (x) and the signal that came back (δ).

Matrix layers (linear, convolution): ∂f/∂W = Σ_positions δ ⊗ a, a = the input patch at that position.
Norm layers: ∂f/∂γ = Σ δ·x̂, ∂f/∂β = Σ δ. Embeddings: row v of ∂f/∂W = Σ_{positions with token v} δ.
The first axis of x and δ is the batch (b); g are groups, T positions.
"""

import torch
import torch.nn.functional as F
from torch import Tensor, nn


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

    def matrix_shape(self, module: nn.Linear) -> tuple[int, int, int]:
        """(groups, outputs per group, inputs per group) of W as a matrix."""
        return 1, module.out_features, module.in_features


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

    def matrix_shape(self, module: nn.Conv2d) -> tuple[int, int, int]:
        """(groups, outputs per group, inputs per group) of W as a matrix."""
        g = module.groups
        return g, module.out_channels // g, module.weight[0].numel()


class BatchNormRule:
    """y = γ x̂ + β with running statistics (the network is in eval mode)."""

    def supports(self, module) -> bool:
        return module.track_running_stats and module.running_mean is not None

    def normalised(self, module, x: Tensor) -> Tensor:
        return F.batch_norm(x, module.running_mean, module.running_var, eps=module.eps)

    def summed(self, module, values: Tensor) -> Tensor:
        """Sum over all but batch and channel: (b, channels)."""
        return values.reshape(*values.shape[:2], -1).sum(-1)


class GroupNormRule(BatchNormRule):
    """y = γ x̂ + β, x̂ normalised over groups of channels."""

    def supports(self, module: nn.GroupNorm) -> bool:
        return True

    def normalised(self, module: nn.GroupNorm, x: Tensor) -> Tensor:
        return F.group_norm(x, module.num_groups, eps=module.eps)


class LayerNormRule:
    """y = γ x̂ + β, x̂ normalised over the last axes."""

    def supports(self, module: nn.LayerNorm) -> bool:
        return True

    def normalised(self, module: nn.LayerNorm, x: Tensor) -> Tensor:
        return F.layer_norm(x, module.normalized_shape, eps=module.eps)

    def summed(self, module: nn.LayerNorm, values: Tensor) -> Tensor:
        """Sum over positions: (b, parameters)."""
        size = 1
        for n in module.normalized_shape:
            size *= n
        return values.reshape(len(values), -1, size).sum(1)


class EmbeddingRule:
    """y = W[token]."""

    def supports(self, module: nn.Embedding) -> bool:
        return module.padding_idx is None and module.max_norm is None and not module.scale_grad_by_freq


MATRIX_RULES = {nn.Linear: LinearRule(), nn.Conv2d: Conv2dRule()}
NORM_RULES = {
    nn.BatchNorm1d: BatchNormRule(),
    nn.BatchNorm2d: BatchNormRule(),
    nn.BatchNorm3d: BatchNormRule(),
    nn.GroupNorm: GroupNormRule(),
    nn.LayerNorm: LayerNormRule(),
}
RULES = MATRIX_RULES | NORM_RULES | {nn.Embedding: EmbeddingRule()}


def input_side(module: nn.Module, x: Tensor) -> Tensor:
    """What a layer's gradients need of its input, the same for all logits: patches, x̂ or tokens."""
    rule = RULES[type(module)]
    if type(module) in MATRIX_RULES:
        return rule.patches(module, x)
    return rule.normalised(module, x) if type(module) in NORM_RULES else x


def per_sample_gradients(module: nn.Module, side: Tensor, delta: Tensor) -> dict[str, Tensor]:
    """Form ∂f/∂parameter of each input, flattened in the parameter's own order.

    side: the input side of what went into the module, delta: ∂f/∂(its output); returns attribute name → (b, p).
    """
    rule = RULES[type(module)]
    if type(module) in MATRIX_RULES:
        signal = rule.signal(module, delta)
        weight, bias = signal @ side.transpose(-1, -2), signal.sum(-1)
    elif type(module) in NORM_RULES:
        weight, bias = rule.summed(module, delta * side), rule.summed(module, delta)
    else:
        weight, bias = _embedding_rows(module, side, delta), None
    gradients = {"weight": weight, "bias": bias}
    return {name: gradients[name].flatten(1) for name in trainable(module)}


def trainable(module: nn.Module) -> tuple[str, ...]:
    """Names of the module's own parameters that require a gradient."""
    return tuple(name for name, p in module.named_parameters(recurse=False) if p.requires_grad)


def _embedding_rows(module: nn.Embedding, tokens: Tensor, delta: Tensor) -> Tensor:
    """Sum δ into the rows of its tokens: (b, V, D)."""
    b, D = len(tokens), module.embedding_dim
    rows = torch.zeros(b, module.num_embeddings, D, dtype=delta.dtype, device=delta.device)
    index = tokens.reshape(b, -1, 1).expand(-1, -1, D)
    return rows.scatter_add_(1, index, delta.reshape(b, -1, D))
