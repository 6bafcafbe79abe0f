"""A network replaced by its tangent: f(θ₀) + ⟨φ(θ₀), θ - θ₀⟩, by forward-mode products; no Jacobian is formed."""

import copy
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.func import functional_call, jvp
from torch.nn.modules.batchnorm import _BatchNorm

from dntk_core.data.batch import Batch, length, take
from dntk_core.gradients.network import of_kind
from dntk_core.models.calling import arguments, in_precision_of, logits

# Inputs at once, at most.
BATCH = 64


@dataclass(frozen=True)
class Linearised:
    """The tangent at one network against another network, ‖f_lin - f(θ)‖/‖f(θ) - f(θ₀)‖ over inputs and outputs.

    error:     of the networks as they are: batch norms of the tangent keep the running statistics of the first one
    following: batch norms have the statistics of the inputs at hand, which follow the parameters
    agreement: share of inputs on which tangent and network choose alike, as for `error`
    """

    error: float
    following: float
    agreement: float


@torch.no_grad()
def linearised(first: nn.Module, last: nn.Module, x: Batch, outputs: str = "logits") -> Linearised:
    """Predict the last network by the tangent at the first."""
    error, agreement = _judged(first, last, x, outputs)
    # One input has no statistics.
    if length(x) < 2 or not _norms(first):
        return Linearised(error, error, agreement)
    following, _ = _judged(_following(first), _following(last), x, outputs)
    return Linearised(error, following, agreement)


@torch.no_grad()
def tangent(first: nn.Module, last: nn.Module, x: Batch, outputs: str = "logits") -> tuple[Tensor, Tensor]:
    """f(x; θ₀) and J(x; θ₀)(θ - θ₀), (b, C) each, θ₀ and θ of two networks; all else stays the first's."""
    there = dict(last.named_parameters())
    here = {name: p.detach() for name, p in first.named_parameters()}
    move = {name: there[name].detach().to(p) - p for name, p in here.items()}

    def product(part: Batch) -> tuple[Tensor, Tensor]:
        return jvp(lambda parameters: _value(first, part, outputs, parameters), (here,), (move,))[:2]

    start, step = _joined(in_precision_of(first, x), product)
    return start, step


def linearisation_error(predicted: Tensor, start: Tensor, end: Tensor) -> float:
    """‖f_lin - f(θ)‖ / ‖f(θ) - f(θ₀)‖ over inputs and outputs: 0 where the network is its tangent; 0/0 is 0."""
    moved = float((end - start).norm())
    return float((predicted - end).norm()) / moved if moved > 0 else 0.0


def _judged(first: nn.Module, last: nn.Module, x: Batch, outputs: str) -> tuple[float, float]:
    """The error of the tangent at the first network, and how often it chooses as the last network does."""
    start, step = tangent(first, last, x, outputs)
    (end,) = _joined(in_precision_of(last, x), lambda part: (_value(last, part, outputs, {}),))
    predicted = start + step
    agreement = float((predicted.argmax(1) == end.argmax(1)).double().mean())
    return linearisation_error(predicted, start, end), agreement


def _value(module: nn.Module, x: Batch, outputs: str, parameters: dict[str, Tensor]) -> Tensor:
    """f(x), (b, C), with some parameters in the place of the module's own."""
    args, kwargs = arguments(x)
    return of_kind(logits(functional_call(module, parameters, args, kwargs)).float(), outputs)


def _joined(x: Batch, of: Callable[[Batch], tuple[Tensor, ...]]) -> tuple[Tensor, ...]:
    """What is said of every part of a batch, joined: parts are even, so that none is too small for statistics."""
    parts = torch.arange(length(x)).chunk(-(-length(x) // BATCH))
    found = zip(*(of(take(x, part)) for part in parts), strict=True)
    return tuple(torch.cat(each).double().cpu() for each in found)


def _norms(module: nn.Module) -> list[_BatchNorm]:
    """Batch norms that have running statistics."""
    return [part for part in module.modules() if isinstance(part, _BatchNorm) and part.running_mean is not None]


def _following(module: nn.Module) -> nn.Module:
    """A copy whose batch norms know no running statistics, and so take those of the inputs at hand."""
    copied = copy.deepcopy(module)
    for norm in _norms(copied):
        norm.running_mean = norm.running_var = None
    return copied
