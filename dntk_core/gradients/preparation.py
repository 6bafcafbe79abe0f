"""A network made ready for per-sample gradients: which parameters have a fast rule, judged on an example."""

from dataclasses import replace

import torch
from torch import Tensor, nn

from dntk_core.base.errors import DNTKError
from dntk_core.base.own_functions import as_sentence
from dntk_core.data.batch import Batch, concatenate, length, take
from dntk_core.gradients.general import check_alone, general_gradients, tolerance
from dntk_core.gradients.hardware import device_of
from dntk_core.gradients.network import Network, edges, gradients_of, of_kind, record, touching
from dntk_core.gradients.recording import entered
from dntk_core.gradients.rules import Call
from dntk_core.models.calling import arguments, in_precision_of, logits

# Shares of a whole gradient's norm below which a parameter's is rounding.
ROUNDING = 1e-6
# In another batch rounding sends a few numbers to the other side of a ReLU's kink: a share of the gradient's norm.
KINKS = 0.1
# Inputs that are taken alone and in a batch, and those of them on which rules are compared with autograd.
ALONE, PROBED = 8, 3


def prepare(module: nn.Module, example: Batch, outputs: str = "logits") -> Network:
    """Inspect a classifier on a small batch (2 inputs or more) and find its fast parameters.

    A fast rule is used only where, on the example, it gives the gradients that autograd gives, input by input.
    """
    module.eval()
    _refuse_batch_statistics(module)
    some = take(example, slice(ALONE)) if length(example) > 1 else concatenate([example, example])
    classes, taken = _check_outputs(module, some)
    sizes = {name: p.numel() for name, p in module.named_parameters() if p.requires_grad}
    if not sizes:
        raise DNTKError("no parameter of the network requires a gradient; set requires_grad=True on those to study")
    network = Network(module, outputs, classes, sizes, (), {}, rest=tuple(sizes), vmapped=False, taken=taken)
    with torch.no_grad():
        check_alone(network, network(some), torch.cat([network(take(some, [i])) for i in range(length(some))]))
    x = take(some, slice(PROBED))
    cotangent = torch.randn(length(x), classes, generator=torch.Generator().manual_seed(0)).to(device_of(x))
    _check_graph(network, x)
    with as_sentence("gradients of the network cannot be computed"):
        exact = general_gradients(network, x, network.rest)(cotangent)
    network = _with_rules(network, x, cotangent, exact)
    return replace(network, vmapped=_vmap_agrees(replace(network, vmapped=True), x, cotangent, exact))


def _refuse_batch_statistics(module: nn.Module) -> None:
    for name, part in module.named_modules():
        if isinstance(part, nn.modules.batchnorm._BatchNorm) and part.running_mean is None:
            raise DNTKError(
                f"batch norm {name!r} keeps no running statistics, so an input's gradient would depend on its batch; "
                "set track_running_stats=True and train it"
            )


def _check_outputs(module: nn.Module, x: Batch) -> tuple[int, str]:
    """The number of classes, and how the logits are found in what the network returns."""
    args, kwargs = arguments(in_precision_of(module, x))
    with torch.no_grad():
        answer = module(*args, **kwargs)
    y = logits(answer)
    if y.ndim != 2 or len(y) != length(x):
        raise DNTKError(
            f"the network must return a tensor (batch, C), got {tuple(y.shape)} for a batch of {length(x)}; wrap it"
        )
    if y.shape[1] == 1:
        raise DNTKError(
            "the network has one output, y; class kernels need at least two: return torch.cat([-y, y], 1) / 2 in its "
            "place, whose softmax is the sigmoid of y"
        )
    if not isinstance(answer, Tensor):
        return y.shape[1], f"logits taken from the {type(answer).__name__} that the network returns"
    return y.shape[1], "" if answer.ndim == 2 else f"outputs {tuple(answer.shape[1:])} taken as {y.shape[1]} logits"


def _check_graph(network: Network, x: Batch) -> None:
    with torch.enable_grad():
        if not network(x).requires_grad:
            raise DNTKError(
                "the network's outputs do not depend on its parameters as autograd sees them; look for detach(), "
                "no_grad() or inference_mode() in its forward()"
            )


def _with_rules(network: Network, x: Batch, cotangent: Tensor, exact: dict[str, Tensor]) -> Network:
    """Take the parameters whose rules reproduce autograd on the example off the general path."""
    y, calls = record(network.module, x)
    found, whole = _by_rules(network, y, calls, cotangent), _by_autograd(network, y, cotangent)
    near, floor = tolerance(network), _floor(exact)
    fast = {
        name
        for name, g in whole.items()
        if _agree(found.get(name, torch.zeros_like(g)), g, near, floor) and _alike(g, exact[name], near, floor)
    }
    while mixed := {name for call in calls for leaf in call.leaves.values() for name in _torn(leaf.sources, fast)}:
        fast -= mixed
    rest = tuple(name for name in network.sizes if name not in fast)
    calls = tuple(call.outline() for call in touching(calls, fast))
    counts = entered(y, network.module, [name for name in network.sizes if name in fast])
    return replace(network, calls=calls, entered=counts, rest=rest)


def _by_rules(network: Network, y: Tensor, calls: tuple[Call, ...], cotangent: Tensor) -> dict[str, Tensor]:
    """Gradients of all parameters that operations with a rule take: name → (b, p)."""
    if not calls:
        return {}
    with torch.enable_grad():
        value = (of_kind(y, network.outputs) * cotangent).sum()
    signals = torch.autograd.grad(value, edges(calls), retain_graph=True, allow_unused=True)
    total: dict[str, Tensor] = {}
    for call, delta in zip(calls, signals, strict=True):
        if delta is not None:
            for name, g in gradients_of(call, call.operation.side(call), delta.float(), network.parameters).items():
                total[name] = total[name] + g if name in total else g
    return total


def _by_autograd(network: Network, y: Tensor, cotangent: Tensor) -> dict[str, Tensor]:
    """The same by autograd, input by input, from the same pass: name → (b, p)."""
    with torch.enable_grad():
        values = (of_kind(y, network.outputs) * cotangent).sum(1)
    chosen = list(network.parameters.values())
    try:
        rows = [
            torch.autograd.grad(value, chosen, retain_graph=True, allow_unused=True, materialize_grads=True)
            for value in values
        ]
    except RuntimeError:
        # A pass that cannot be gone back twice has no signals for more than one logit.
        return {}
    of_one = zip(network.parameters, zip(*rows, strict=True), strict=True)
    return {name: torch.stack([g.to_dense().flatten().float() for g in each]) for name, each in of_one}


def _torn(sources: tuple[str, ...], fast: set[str]) -> set[str]:
    """Parameters made into one tensor are all fast, or none."""
    return set() if fast.issuperset(sources) else fast.intersection(sources)


def _vmap_agrees(network: Network, x: Batch, cotangent: Tensor, exact: dict[str, Tensor]) -> bool:
    try:
        found = general_gradients(network, x, network.rest)(cotangent)
    except Exception:
        # Some operations have no batching rule, some networks look at numbers; inputs are then taken one by one.
        return False
    near, floor = tolerance(network), _floor(exact)
    return all(_agree(g, exact[name], near, floor) for name, g in found.items())


def _floor(exact: dict[str, Tensor]) -> Tensor:
    """What is rounding in the gradient of every input, (b,)."""
    return ROUNDING * torch.stack([g.norm(dim=1) for g in exact.values()]).norm(dim=0)


def _alike(together: Tensor, alone: Tensor, near: float, floor: Tensor) -> bool:
    """Whether gradients (b, p) of one pass are those of inputs alone: some up to rounding, all but for few kinks."""
    apart = (together - alone).norm(dim=1) - floor - 1e-12
    return bool((apart <= KINKS * alone.norm(dim=1)).all() and (apart <= near * alone.norm(dim=1)).any())


def _agree(ours: Tensor, exact: Tensor, near: float, floor: Tensor) -> bool:
    """Whether gradients (b, p) are the same input by input, up to rounding."""
    return bool(((ours - exact).norm(dim=1) <= near * exact.norm(dim=1) + floor + 1e-12).all())
