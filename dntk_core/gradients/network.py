"""A classifier made ready for per-sample gradients: its parameters, and which layers have a fast rule."""

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace

import torch
from torch import Tensor, nn
from torch.autograd.graph import GradientEdge, get_gradient_edge
from torch.func import functional_call, grad, vmap

from dntk_core.base.errors import DNTKError
from dntk_core.gradients.equivalents import PerInput, equivalent
from dntk_core.gradients.layers import input_side, per_sample_gradients, rule_of, trainable

# The probe compares two float32 back-propagations that sum in different orders.
AGREEMENT = 1e-3


@dataclass(frozen=True)
class Layer:
    """A module with a fast rule, met once in every forward pass, its parameters used nowhere else.

    parameters: attribute → the parameter's name in the network; shape: of the output for one input
    """

    module: nn.Module
    parameters: dict[str, str]
    shape: tuple[int, ...]


@dataclass(frozen=True)
class Network:
    """θ ∈ R^P as named parameters, split into those of fast layers and the rest.

    equivalent: computes the same around the same parameters; its modules are the fast layers'
    sizes: parameter name → number of entries, in the module's own order; P is their sum
    rest: names taken by the general path; vmapped: whether the rest can be batched by vmap
    outputs: "logits" or "log_softmax"; classes: C
    """

    module: nn.Module
    equivalent: nn.Module
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
        return _float32(torch.autograd.grad(self.logits, self.edges, cotangent, retain_graph=keep, allow_unused=True))

    def signals_of_all(self, cotangents: Tensor) -> tuple[Tensor | None, ...]:
        """Back-propagate all cotangents (C, b, C) at once: signals (C, b, …)."""
        return _float32(
            torch.autograd.grad(self.logits, self.edges, cotangents, is_grads_batched=True, allow_unused=True)
        )


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


def run(network: Network, x: Tensor, precision: str = "float32") -> Tape:
    """Run one batch forward and keep what the backward passes need.

    precision: of the products in the network, forward and backward; what is kept and comes back is float32
    """
    met, mixed = {}, precision != "float32"

    def hook(module, args, y):
        # The edge is taken now: a later in-place operation would move the output's history on.
        met[module] = _float32((args[0].detach(),))[0], get_gradient_edge(y)

    modules = [layer.module for layer in network.layers]
    bare = {layer.parameters["weight"]: layer.module for layer in network.layers if type(layer.module) is PerInput}
    with torch.enable_grad(), _hooked(modules, hook), torch.autocast(x.device.type, torch.bfloat16, enabled=mixed):
        logits = _outputs(_forward(network.equivalent, bare, x).float(), network.outputs)
    return Tape(logits, tuple(met[module][0] for module in modules), tuple(met[module][1] for module in modules))


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


def _float32(tensors: Sequence[Tensor | None]) -> tuple[Tensor | None, ...]:
    """Widen bfloat16."""
    return tuple(t.float() if t is not None and t.dtype == torch.bfloat16 else t for t in tensors)


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
    ours = _forward(counterpart, bare, x)
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

    def note(part, args, y):
        batch_first = bool(args) and len(args[0]) == len(y) == len(x) and y.requires_grad
        calls[part].append(tuple(y.shape[1:]) if batch_first else None)

    with torch.enable_grad(), _hooked(parts, note):
        _forward(counterpart, bare, x)
    once = {part: shapes[0] for part, shapes in calls.items() if len(shapes) == 1 and shapes[0] is not None}
    return tuple(
        Layer(part, {attr: names[id(getattr(part, attr))] for attr in trainable(part)}, shape)
        for part, shape in once.items()
    )


def _forward(counterpart: nn.Module, bare: dict[str, PerInput], x: Tensor) -> Tensor:
    """Run with a copy per input in the place of each bare parameter."""
    return functional_call(counterpart, {name: copies(x) for name, copies in bare.items()}, (x,))


@contextmanager
def _hooked(modules: list[nn.Module], hook) -> Iterator[None]:
    handles = [module.register_forward_hook(hook) for module in modules]
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()


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
