"""The general path: per-sample gradients of any parameters of any network, slower than rules."""

from collections.abc import Callable

import torch
from torch import Tensor
from torch.func import functional_call, grad, vmap

from dntk_core.base.errors import DNTKError
from dntk_core.data.batch import Batch, apply, length, take
from dntk_core.gradients.network import Network, of_kind
from dntk_core.models.calling import arguments, in_precision_of, logits

# Cotangents (b, C) → gradients by name, (b, p).
Gradients = Callable[[Tensor], dict[str, Tensor]]
# Outputs of an input by itself and in a batch differ by rounding only: in float32, and in units of a precision's own.
ALONE, ROUNDINGS = 1e-3, 8


def general_gradients(network: Network, x: Batch, names: tuple[str, ...], together: Tensor | None = None) -> Gradients:
    """∂⟨f(x_i), cotangent_i⟩/∂p of some parameters, for any cotangents of one batch.

    together: outputs of the batch (b, C), which must be those of its inputs one by one
    """
    if not names:
        return lambda cotangent: {}
    # Other parameters than the usual ones are asked for where a batch takes another way, which vmap cannot follow.
    usual = network.vmapped and names == network.rest
    return _vmapped(network, x, names) if usual else _one_by_one(network, x, names, together)


def tolerance(network: Network) -> float:
    """The relative difference that rounding explains in the precision of the network's parameters."""
    return max(ALONE, *(ROUNDINGS * torch.finfo(p.dtype).eps for p in network.parameters.values()))


def check_alone(network: Network, together: Tensor, alone: Tensor) -> None:
    """Refuse outputs that change with the batch; together, alone: (b, C) in one batch, and one by one."""
    change = (together - alone).norm(dim=1) > tolerance(network) * together.norm(dim=1) + 1e-6
    if change.any():
        raise DNTKError(
            f"the network's outputs for input {int(change.nonzero()[0])} change with the batch it is in, or from call "
            "to call; per-input gradients need outputs that depend on their own input alone"
        )


def _vmapped(network: Network, x: Batch, names: tuple[str, ...]) -> Gradients:
    parameters = network.parameters
    chosen = {name: parameters[name].detach() for name in names}
    x = in_precision_of(network.module, x)

    def value(chosen: dict[str, Tensor], x_i: Batch, v_i: Tensor) -> Tensor:
        args, kwargs = arguments(apply(lambda leaf: leaf.unsqueeze(0), x_i))
        y = logits(functional_call(network.module, chosen, args, kwargs))
        return (of_kind(y.float(), network.outputs)[0] * v_i).sum()

    @torch.no_grad()
    def gradients(cotangent: Tensor) -> dict[str, Tensor]:
        found = vmap(grad(value), in_dims=(None, 0, 0), randomness="same")(chosen, x, cotangent)
        return {name: found[name].flatten(1).float() for name in names}

    return gradients


def _one_by_one(network: Network, x: Batch, names: tuple[str, ...], together: Tensor | None) -> Gradients:
    """Plain autograd, one forward pass for each input: works for whatever autograd works for."""
    parameters = network.parameters
    chosen = [parameters[name] for name in names]
    with torch.enable_grad():
        outputs = [network(take(x, slice(i, i + 1)))[0] for i in range(length(x))]
    if together is not None:
        check_alone(network, together.detach(), torch.stack(outputs).detach())

    def gradients(cotangent: Tensor) -> dict[str, Tensor]:
        each = [
            torch.autograd.grad(y, chosen, v, retain_graph=True, allow_unused=True, materialize_grads=True)
            for y, v in zip(outputs, cotangent, strict=True)
        ]
        return {
            name: torch.stack([g.to_dense().flatten().float() for g in of_one])
            for name, of_one in zip(names, zip(*each, strict=True), strict=True)
        }

    return gradients
