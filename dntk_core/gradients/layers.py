"""Layers with a fast rule: which those are, and their per-sample gradients from input side and signal."""

from torch import Tensor, nn

from dntk_core.base.errors import DNTKError
from dntk_core.gradients.rules import RULES, MatrixRule, Rule

# Methods that say what a layer computes, and kinds that override them and compute the same.
FORWARD = ("forward", "_conv_forward", "_check_input_dim")
SAME = ("timm.layers.norm.LayerNorm", "timm.layers.norm.GroupNorm")


def rule_of(module: nn.Module) -> Rule | None:
    """The rule of a module's kind, or of the kind whose forward it inherits; None without.

    What overrides its forward may do anything on inputs that no example shows, so its parameters take the general path.
    """
    kind = next((kind for kind in type(module).__mro__ if kind in RULES), None)
    if kind is None:
        return None
    same = all(getattr(type(module), name, None) is getattr(kind, name, None) for name in FORWARD)
    return RULES[kind] if same or f"{type(module).__module__}.{type(module).__qualname__}" in SAME else None


def matrix_rule_of(module: nn.Module) -> MatrixRule | None:
    """The rule of a layer whose weight is a matrix."""
    rule = rule_of(module)
    return rule if isinstance(rule, MatrixRule) else None


def patch_numbers(module: nn.Module, shape: tuple[int, ...]) -> int:
    """Numbers that an input side holds for one input beyond the input itself: the patches of a spatial convolution."""
    rule = rule_of(module)
    return rule.side_numbers(module, shape) if rule else 0


def input_side(module: nn.Module, x: Tensor) -> Tensor:
    """What a layer's gradients need of its input, the same for all logits."""
    return _fast(module).side(module, x)


def per_sample_gradients(module: nn.Module, side: Tensor, delta: Tensor) -> dict[str, Tensor]:
    """Form ∂f/∂parameter of each input, flattened in the parameter's own order; the caller may overwrite them.

    side: the input side of what went into the module, delta: ∂f/∂(its output); returns attribute name → (b, p).
    """
    weight, bias = _fast(module).gradients(module, side, delta)
    gradients = {"weight": weight, "bias": bias}
    return {name: gradients[name].flatten(1) for name in trainable(module)}


def trainable(module: nn.Module) -> tuple[str, ...]:
    """Names of the module's own parameters that require a gradient."""
    return tuple(name for name, p in module.named_parameters(recurse=False) if p.requires_grad)


def _fast(module: nn.Module) -> Rule:
    """The rule of a layer that is known to have one."""
    if (rule := rule_of(module)) is None:
        raise DNTKError(f"there is no gradient rule for layers of kind {type(module).__name__}; add one to RULES")
    return rule
