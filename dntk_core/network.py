"""A classifier made ready for per-sample gradients: its parameters, and which layers have a fast rule."""

from collections import Counter
from dataclasses import dataclass, replace

import torch
from torch import Tensor, nn
from torch.autograd.graph import GradientEdge, get_gradient_edge
from torch.func import functional_call, grad, vmap

from dntk_core.errors import DNTKError
from dntk_core.layers import RULES, input_side, per_sample_gradients, trainable

# The probe compares two float32 back-propagations that sum in different orders.
AGREEMENT = 1e-3


@dataclass(frozen=True)
class Layer:
    """A module with a fast rule, met once in every forward pass, its parameters used nowhere else.

    shape: of its output for one input
    """

    name: str
    module: nn.Module
    shape: tuple[int, ...]

    @property
    def parameters(self) -> dict[str, str]:
        """Attribute → full parameter name."""
        return {attr: f"{self.name}.{attr}" if self.name else attr for attr in trainable(self.module)}


@dataclass(frozen=True)
class Network:
    """θ ∈ R^P as named parameters, split into those of fast layers and the rest.

    sizes: parameter name → number of entries, in the module's own order; P is their sum
    rest: names taken by the general path; vmapped: whether the rest can be batched by vmap
    outputs: "logits" or "log_softmax"; classes: C
    """

    module: nn.Module
    outputs: str
    classes: int
    sizes: dict[str, int]
    layers: tuple[Layer, ...]
    rest: tuple[str, ...]
    vmapped: bool

    @property
    def P(self) -> int:
        return sum(self.sizes.values())

    def __call__(self, x: Tensor) -> Tensor:
        """f(x; θ), (b, C)."""
        return _outputs(self.module(x), self.outputs)


@dataclass(frozen=True)
class Tape:
    """One forward pass: outputs (b, C), and per fast layer what went in and where its signal comes back."""

    logits: Tensor
    inputs: tuple[Tensor, ...]
    edges: tuple[GradientEdge, ...]

    def signals(self, cotangent: Tensor, keep: bool) -> tuple[Tensor | None, ...]:
        """Back-propagate to the layers' outputs alone; no weight gradient is computed."""
        if not self.edges:
            return ()
        return torch.autograd.grad(self.logits, self.edges, cotangent, retain_graph=keep, allow_unused=True)


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
    candidates = _candidates(module, x)
    cotangent = torch.randn(len(x), classes, generator=torch.Generator().manual_seed(0)).to(x.device)
    sizes = {name: p.numel() for name, p in parameters.items()}
    network = Network(module, outputs, classes, sizes, candidates, rest=(), vmapped=True)
    exact = [_autograd(network, parameters, x, cotangent, i) for i in range(len(x))]
    layers = _agreeing(network, x, cotangent, exact)
    fast = {name for layer in layers for name in layer.parameters.values()}
    network = replace(network, layers=layers, rest=tuple(name for name in parameters if name not in fast))
    return replace(network, vmapped=_vmap_agrees(network, x, cotangent, exact))


def run(network: Network, x: Tensor) -> Tape:
    """Run one batch forward and keep what the backward passes need."""
    met = {}

    def hook(layer):
        # The edge is taken now: a later in-place operation would move the output's history on.
        return lambda module, args, y: met.update({layer.name: (args[0].detach(), get_gradient_edge(y))})

    handles = [layer.module.register_forward_hook(hook(layer)) for layer in network.layers]
    try:
        with torch.enable_grad():
            logits = network(x)
    finally:
        for handle in handles:
            handle.remove()
    kept = [met[layer.name] for layer in network.layers]
    return Tape(logits, tuple(a for a, _ in kept), tuple(e for _, e in kept))


@torch.no_grad()
def general_gradients(network: Network, x: Tensor, cotangent: Tensor) -> dict[str, Tensor]:
    """∂⟨f(x_i), cotangent_i⟩/∂p for the parameters without a fast rule: name → (b, p)."""
    parameters = dict(network.module.named_parameters())
    chosen = {name: parameters[name].detach() for name in network.rest}

    def value(chosen, x_i, v_i):
        y = functional_call(network.module, chosen, (x_i.unsqueeze(0),))
        return (_outputs(y, network.outputs)[0] * v_i).sum()

    if network.vmapped:
        gradients = vmap(grad(value), in_dims=(None, 0, 0), randomness="same")(chosen, x, cotangent)
    else:
        each = [grad(value)(chosen, x_i, v_i) for x_i, v_i in zip(x, cotangent, strict=True)]
        gradients = {name: torch.stack([g[name] for g in each]) for name in network.rest}
    return {name: gradients[name].flatten(1) for name in network.rest}


def _outputs(y: Tensor, outputs: str) -> Tensor:
    return y.log_softmax(-1) if outputs == "log_softmax" else y


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


def _candidates(module: nn.Module, x: Tensor) -> tuple[Layer, ...]:
    """Modules of a known kind that run once, on a batch-first tensor, and own their parameters alone."""
    owners = Counter(id(p) for part in module.modules() for p in part.parameters(recurse=False))
    names = {
        part: name
        for name, part in module.named_modules()
        if type(part) in RULES
        and RULES[type(part)].supports(part)
        and trainable(part)
        and all(owners[id(p)] == 1 for p in part.parameters(recurse=False))
    }
    calls = {part: [] for part in names}

    def note(part, args, y):
        batch_first = bool(args) and len(args[0]) == len(y) == len(x) and y.requires_grad
        calls[part].append(tuple(y.shape[1:]) if batch_first else None)

    handles = [part.register_forward_hook(note) for part in names]
    with torch.enable_grad():
        module(x)
    for handle in handles:
        handle.remove()
    once = {part: shapes[0] for part, shapes in calls.items() if len(shapes) == 1 and shapes[0] is not None}
    return tuple(Layer(names[part], part, shape) for part, shape in once.items())


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
