"""A network made ready for per-sample gradients: which layers have a fast rule, judged on an example."""

from collections import Counter
from contextlib import suppress
from dataclasses import replace

import torch
from torch import Tensor, nn

from dntk_core.base.errors import DNTKError
from dntk_core.gradients.equivalents import PerInput, equivalent
from dntk_core.gradients.layers import input_side, per_sample_gradients, rule_of, trainable
from dntk_core.gradients.network import Layer, Network, forward, general_gradients, hooked, run

# The probe compares two float32 back-propagations that sum in different orders.
AGREEMENT = 1e-3


def prepare(module: nn.Module, example: Tensor, outputs: str = "logits") -> Network:
    """Inspect a classifier on a small batch (2 inputs or more) and find its fast layers.

    A fast rule is used only where, on the example, it gives the gradients that autograd gives, input by input.
    """
    module.eval()
    parameters = {name: p for name, p in module.named_parameters() if p.requires_grad}
    if not parameters:
        raise DNTKError("no parameter of the network requires a gradient; set requires_grad=True on those to study")
    _refuse_batch_statistics(module)
    x = example[:2] if len(example) > 1 else torch.cat((example, example))
    classes = _check_outputs(module, x)
    counterpart = _checked_equivalent(module, x)
    candidates = _candidates(module, counterpart, x)
    cotangent = torch.randn(len(x), classes, generator=torch.Generator().manual_seed(0)).to(x.device)
    sizes = {name: p.numel() for name, p in parameters.items()}
    network = Network(module, counterpart, outputs, classes, sizes, candidates, rest=(), vmapped=True)
    exact = [_autograd(network, parameters, x, cotangent, i) for i in range(len(x))]
    layers = _agreeing(network, x, cotangent, exact)
    fast = {name for layer in layers for name in layer.parameters.values()}
    network = replace(network, layers=layers, rest=tuple(name for name in parameters if name not in fast))
    return replace(network, vmapped=_vmap_agrees(network, x, cotangent, exact))


def _refuse_batch_statistics(module: nn.Module) -> None:
    for name, part in module.named_modules():
        if isinstance(part, nn.modules.batchnorm._BatchNorm) and part.running_mean is None:
            raise DNTKError(
                f"batch norm {name!r} keeps no running statistics, so an input's gradient would depend on its batch; "
                "set track_running_stats=True and train it"
            )


def _check_outputs(module: nn.Module, x: Tensor) -> int:
    with torch.no_grad():
        y = module(x)
    if not isinstance(y, Tensor) or y.ndim != 2 or len(y) != len(x):
        got = tuple(y.shape) if isinstance(y, Tensor) else type(y).__name__
        raise DNTKError(f"the network must return a tensor (batch, C), got {got} for a batch of {len(x)}; wrap it")
    if y.shape[1] == 1:
        raise DNTKError("the network has one output (C = 1); class kernels need at least two, give it two logits")
    return y.shape[1]


def _checked_equivalent(module: nn.Module, x: Tensor) -> nn.Module:
    """The network's equivalent if it computes the same on the example, else the network itself."""
    try:
        counterpart = equivalent(module)
        return counterpart if _computes(counterpart, {}, x, module(x)) else module
    except (RuntimeError, TypeError, AttributeError):
        # Some networks cannot be copied, or look into their parts.
        return module


def _bare_parameters(module: nn.Module, counterpart: nn.Module, x: Tensor) -> dict[str, PerInput]:
    """Parameters of no known layer that the network also takes as one copy per input, by name."""
    known = {id(p) for part in counterpart.modules() if rule_of(part) for p in part.parameters(recurse=False)}
    bare = {}
    for name, p in module.named_parameters():
        if p.requires_grad and id(p) not in known and p.ndim:
            # A network may refuse other shapes in any way it likes.
            with suppress(Exception):
                if _computes(counterpart, {name: PerInput(p)}, x, module(x)):
                    bare[name] = PerInput(p)
    return bare


@torch.no_grad()
def _computes(counterpart: nn.Module, bare: dict[str, PerInput], x: Tensor, y: Tensor) -> bool:
    ours = forward(counterpart, bare, x)
    return ours.shape == y.shape and bool((ours - y).norm() <= AGREEMENT * y.norm())


def _candidates(module: nn.Module, counterpart: nn.Module, x: Tensor) -> tuple[Layer, ...]:
    """Modules of a known kind that run once, on a batch-first tensor, and own their parameters alone."""
    bare = _bare_parameters(module, counterpart, x)
    owners = Counter(id(p) for part in module.modules() for p in part.parameters(recurse=False))
    names = {id(p): name for name, p in module.named_parameters()}
    parts = [
        part
        for part in (*counterpart.modules(), *bare.values())
        if (rule := rule_of(part)) is not None
        and rule.supports(part)
        and trainable(part)
        and set(trainable(part)) <= {"weight", "bias"}
        and all(owners[id(p)] == 1 for p in part.parameters(recurse=False))
    ]
    calls = {part: [] for part in parts}

    def note(part: nn.Module, args: tuple[Tensor, ...], y: Tensor) -> None:
        batch_first = bool(args) and len(args[0]) == len(y) == len(x) and y.requires_grad
        calls[part].append(tuple(y.shape[1:]) if batch_first else None)

    with torch.enable_grad(), hooked(parts, note):
        forward(counterpart, bare, x)
    once = {part: shapes[0] for part, shapes in calls.items() if len(shapes) == 1 and shapes[0] is not None}
    return tuple(
        Layer(part, {attr: names[id(getattr(part, attr))] for attr in trainable(part)}, shape)
        for part, shape in once.items()
    )


def _autograd(network: Network, parameters: dict, x: Tensor, cotangent: Tensor, i: int) -> dict[str, Tensor]:
    """Gradient of ⟨f(x_i), cotangent_i⟩ by plain autograd, the reference for input i."""
    with torch.enable_grad():
        value = (network(x)[i] * cotangent[i]).sum()
        gradients = torch.autograd.grad(value, list(parameters.values()), allow_unused=True)
    zeros = (torch.zeros_like(p) if g is None else g for g, p in zip(gradients, parameters.values(), strict=True))
    return dict(zip(parameters, zeros, strict=True))


def _agreeing(network: Network, x: Tensor, cotangent: Tensor, exact: list[dict]) -> tuple[Layer, ...]:
    """The layers whose rule reproduces autograd on the example."""
    tape = run(network, x)
    agreeing = []
    for layer, a, delta in zip(network.layers, tape.inputs, tape.signals(cotangent, keep=False), strict=True):
        ours = {} if delta is None else per_sample_gradients(layer.module, input_side(layer.module, a), delta)
        if _same({layer.parameters[attr]: g for attr, g in ours.items()}, exact):
            agreeing.append(layer)
    return tuple(agreeing)


def _vmap_agrees(network: Network, x: Tensor, cotangent: Tensor, exact: list[dict]) -> bool:
    try:
        return _same(general_gradients(network, x, cotangent), exact)
    except RuntimeError:
        # Some operations have no batching rule; inputs are then taken one by one.
        return False


def _same(ours: dict[str, Tensor], exact: list[dict]) -> bool:
    return all(
        (g[i] - e[name].flatten()).norm() <= AGREEMENT * e[name].norm() + 1e-12
        for name, g in ours.items()
        for i, e in enumerate(exact)
    )
