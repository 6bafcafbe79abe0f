"""A classifier as gradients see it: its parameters, its fast layers, a forward pass kept for many backward ones."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.autograd.graph import GradientEdge, get_gradient_edge
from torch.func import functional_call, grad, vmap

from dntk_core.gradients.equivalents import PerInput

# What a module calls after its forward pass: (module, what went in, what came out).
Hook = Callable[[nn.Module, tuple[Tensor, ...], Tensor], None]


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


def run(network: Network, x: Tensor, precision: str = "float32") -> Tape:
    """Run one batch forward and keep what the backward passes need.

    precision: of the products in the network, forward and backward; what is kept and comes back is float32
    """
    met, mixed = {}, precision != "float32"

    def hook(module: nn.Module, args: tuple[Tensor, ...], y: Tensor) -> None:
        # The edge is taken now: a later in-place operation would move the output's history on.
        met[module] = _float32((args[0].detach(),))[0], get_gradient_edge(y)

    modules = [layer.module for layer in network.layers]
    bare = {layer.parameters["weight"]: layer.module for layer in network.layers if type(layer.module) is PerInput}
    with torch.enable_grad(), hooked(modules, hook), torch.autocast(x.device.type, torch.bfloat16, enabled=mixed):
        logits = _outputs(forward(network.equivalent, bare, x).float(), network.outputs)
    return Tape(logits, tuple(met[module][0] for module in modules), tuple(met[module][1] for module in modules))


@torch.no_grad()
def general_gradients(network: Network, x: Tensor, cotangent: Tensor) -> dict[str, Tensor]:
    """∂⟨f(x_i), cotangent_i⟩/∂p for the parameters without a fast rule: name → (b, p)."""
    parameters = dict(network.module.named_parameters())
    chosen = {name: parameters[name].detach() for name in network.rest}

    def value(chosen: dict[str, Tensor], x_i: Tensor, v_i: Tensor) -> Tensor:
        y = functional_call(network.module, chosen, (x_i.unsqueeze(0),))
        return (_outputs(y, network.outputs)[0] * v_i).sum()

    if network.vmapped:
        gradients = vmap(grad(value), in_dims=(None, 0, 0), randomness="same")(chosen, x, cotangent)
    else:
        each = [grad(value)(chosen, x_i, v_i) for x_i, v_i in zip(x, cotangent, strict=True)]
        gradients = {name: torch.stack([g[name] for g in each]) for name in network.rest}
    return {name: gradients[name].flatten(1) for name in network.rest}


def forward(counterpart: nn.Module, bare: dict[str, PerInput], x: Tensor) -> Tensor:
    """Run with a copy per input in the place of each bare parameter."""
    return functional_call(counterpart, {name: copies(x) for name, copies in bare.items()}, (x,))


@contextmanager
def hooked(modules: Sequence[nn.Module], hook: Hook) -> Iterator[None]:
    """Call a hook after each module's forward pass."""
    handles = [module.register_forward_hook(hook) for module in modules]
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()


def _float32(tensors: Sequence[Tensor | None]) -> tuple[Tensor | None, ...]:
    """Widen bfloat16."""
    return tuple(t.float() if t is not None and t.dtype == torch.bfloat16 else t for t in tensors)


def _outputs(y: Tensor, outputs: str) -> Tensor:
    return y.log_softmax(-1) if outputs == "log_softmax" else y
