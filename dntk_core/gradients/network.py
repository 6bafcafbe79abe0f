"""A classifier as gradients see it: parameters, operations on them, a forward pass kept for many backward ones."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import torch
from torch import Tensor, nn
from torch.autograd.graph import GradientEdge

from dntk_core.data.batch import Batch, length
from dntk_core.gradients.hardware import device_of, products_in
from dntk_core.gradients.recording import Recorder, entered, lead_on
from dntk_core.gradients.rules import Call
from dntk_core.models.calling import call as answer

# What comes back at the output of every call; None where an output does not matter.
Signals = tuple[Tensor | None, ...]


@dataclass(frozen=True)
class Network:
    """θ ∈ R^P as named parameters, split into those that operations with a rule take and the rest.

    sizes:   parameter name → number of entries, in the module's own order; P is their sum
    calls:   the operations that every batch is expected to repeat, as they were on the example
    entered: parameter name → how often it enters the computation, for those with fast gradients
    rest:    names taken by the general path; vmapped: whether the general path can be batched by vmap
    outputs: "logits" or "log_softmax"; classes: C
    taken:   how the logits were found in what the module returns; empty where it returns them as they are
    """

    module: nn.Module
    outputs: str
    classes: int
    sizes: dict[str, int]
    calls: tuple[Call, ...]
    entered: dict[str, int]
    rest: tuple[str, ...]
    vmapped: bool
    taken: str = ""

    @property
    def P(self) -> int:
        return sum(self.sizes.values())

    def __call__(self, x: Batch) -> Tensor:
        """f(x; θ), (b, C), float32."""
        return of_kind(answer(self.module, x).float(), self.outputs)

    @cached_property
    def parameters(self) -> dict[str, Tensor]:
        """The parameters that gradients are taken of, by name."""
        return {name: p for name, p in self.module.named_parameters() if name in self.sizes}


@dataclass(frozen=True)
class Tape:
    """One forward pass: outputs (b, C), the calls with fast gradients, and the parameters without."""

    logits: Tensor
    calls: tuple[Call, ...]
    rest: tuple[str, ...]

    def signals(self, cotangent: Tensor) -> Signals:
        """Back-propagate to the operations' outputs alone; no weight gradient is computed."""
        if not self.calls:
            return ()
        ends = edges(self.calls)
        return float32(torch.autograd.grad(self.logits, ends, cotangent, retain_graph=True, allow_unused=True))


def run(network: Network, x: Batch, precision: str = "float32", fast: bool = True) -> Tape:
    """Run one batch forward and keep what the backward passes need.

    A batch that takes another way through the network than the example did has all gradients by the general path.
    precision: of the products in the network, forward and backward; what is kept and comes back is float32
    fast: whether rules may be used at all
    """
    y, calls = record(network.module, x, precision)
    with torch.enable_grad():
        logits = of_kind(y, network.outputs)
    calls = touching(calls, set(network.entered))
    if fast and ways(calls) == ways(network.calls) and entered(y, network.module, network.entered) == network.entered:
        return Tape(logits, calls, network.rest)
    return Tape(logits, (), tuple(network.sizes))


def record(module: nn.Module, x: Batch, precision: str = "float32") -> tuple[Tensor, tuple[Call, ...]]:
    """The module's output for one batch, float32, and the calls of operations that have a rule, in order."""
    recorder = Recorder(module, length(x))
    with torch.enable_grad(), products_in(precision, device_of(x)), recorder:
        y = answer(module, x).float()
    # A parameter that met an operation without a rule takes the general path in all its uses.
    return y, touching(recorder.calls_behind(y), {n for call in recorder.calls for n in call.names} - recorder.unknown)


def touching(calls: tuple[Call, ...], names: set[str]) -> tuple[Call, ...]:
    """Calls of operations on some parameters, without the roles of others."""
    narrowed = (
        replace(call, leaves={role: leaf for role, leaf in call.leaves.items() if names.issuperset(leaf.sources)})
        for call in calls
    )
    return tuple(call for call in narrowed if call.leaves)


def edges(calls: tuple[Call, ...]) -> list[GradientEdge]:
    """Where the signals of calls come back."""
    return [call.edge for call in calls if call.edge is not None]


def ways(calls: tuple[Call, ...]) -> list[tuple]:
    """What must be the same for every batch."""
    return [call.way for call in calls]


def gradients_of(call: Call, side: Tensor, delta: Tensor, parameters: dict[str, Tensor]) -> dict[str, Tensor]:
    """Gradients of the parameters of one call: name → (b, p); the caller may overwrite them."""
    found: dict[str, Tensor] = {}
    for name, part in led_on(call, call.operation.gradients(call, side, delta), parameters):
        found[name] = found[name] + part if name in found else part
    return found


def led_on(call: Call, gradients: dict[str, Tensor], parameters: dict[str, Tensor]) -> Iterator[tuple[str, Tensor]]:
    """Lead a call's gradients by role on to parameters: (name, (b, p)), a name perhaps several times."""
    for role, gradient in gradients.items():
        if role in call.leaves:
            yield from lead_on(call.leaves[role], gradient, parameters).items()


def of_kind(y: Tensor, outputs: str) -> Tensor:
    """Outputs as they are studied: logits, or their log-softmax."""
    return y.log_softmax(-1) if outputs == "log_softmax" else y


def float32(tensors: Signals) -> Signals:
    """Signals of any precision as float32."""
    return tuple(t if t is None else t.float() for t in tensors)
