"""Per-sample per-logit gradients φ^c(x) = ∇_θ f^c(x; θ), streamed in batches through a projection."""

from collections.abc import Iterator
from itertools import combinations_with_replacement, tee

import torch
from torch import Tensor

from dntk_core.base.compute import Compute
from dntk_core.base.device import resolve_device
from dntk_core.base.errors import DNTKError
from dntk_core.base.memory import out_of_memory
from dntk_core.base.spec import ProjectionSpec
from dntk_core.data.batch import Batch, length, take
from dntk_core.gradients.batch_memory import input_bytes
from dntk_core.gradients.general import general_gradients
from dntk_core.gradients.hardware import inputs_together, logits_together, release, send
from dntk_core.gradients.network import Network, Signals, Tape, run
from dntk_core.gradients.projections import PROJECTIONS, Projector
from dntk_core.gradients.projections.grouped import Grouped
from dntk_core.gradients.projections.whole import WholeGradients, all_patches, input_sides, named_gradients
from dntk_core.gradients.signals import signals_of_logits
from dntk_core.models.parameters import group_names
from dntk_core.models.seen import Seen


def projected_dimension(spec: ProjectionSpec, P: int) -> int:
    """Check that a projection of R^P can be made, and return its k, at most P."""
    if spec.name not in PROJECTIONS:
        raise DNTKError(f"unknown projection {spec.name!r}; known: {', '.join(PROJECTIONS)}")
    return PROJECTIONS[spec.name].dimension(spec.k, P)


def projector(network: Network, spec: ProjectionSpec, device: torch.device) -> Projector:
    """Build the map from a network's gradients to R^k."""
    k, projection = (
        projected_dimension(spec, network.P),
        PROJECTIONS["identity" if spec.exact(network.P) else spec.name],
    )
    if not spec.groups:
        return projection.make(network, spec.seed, k, device)
    groups = group_names(tuple(network.sizes), spec.groups)
    return Grouped(network, groups, {False: projection, True: PROJECTIONS["identity"]}, spec.seed, k, device)


@torch.no_grad()
def project_batch(
    network: Network, through: Projector, x: Batch, batched: bool = False, precision: str = "float32"
) -> tuple[Tensor, Tensor]:
    """Project φ^c(x) of one batch for every logit c: features (C, b, k) and logits (b, C).

    batched: back-propagate all logits at once (good on a GPU; C times the memory)
    """
    tape = run(network, x, precision)
    # The general path computes in float32, so that only then its outputs can be compared.
    together = tape.logits if precision == "float32" else None
    state, general = through.begin(tape.calls), general_gradients(network, x, tape.rest, together)
    features = torch.empty(network.classes, length(x), through.k, device=tape.logits.device)
    for c, (cotangent, signals) in enumerate(signals_of_logits(tape, batched)):
        rest = general(cotangent)
        features[c] = through.project(state, signals, rest)
        # One sum tells of almost every batch that all is finite.
        if not torch.isfinite(features[c].sum()) and not torch.isfinite(features[c]).all():
            _name_nonfinite(network, tape, signals, rest, c)
    return features, tape.logits.detach()


def stream(network: Network, through: Projector, x: Batch | Seen, compute: Compute) -> Iterator[tuple[Tensor, Tensor]]:
    """Yield (features (C, b, k), logits (b, C)) on the CPU, batch after batch; out of memory halves the batch."""
    device = resolve_device(compute.device)
    batch = batch_size(network, through, compute)
    done = 0
    while done < length(x):
        try:
            part = send(take(x, slice(done, done + batch)), device)
            features, logits = project_batch(network, through, part, logits_together(device), compute.precision)
        except (RuntimeError, MemoryError) as error:
            if not out_of_memory(error):
                raise
            if batch == 1:
                raise DNTKError("one input alone does not fit in memory; use smaller inputs or network") from error
            batch = max(1, batch // 2)
            release(device)
            continue
        yield features.cpu(), logits.cpu()
        done += length(part)


def exact_kernels(network: Network, x: Batch, batch: int = 0) -> Tensor:
    """Exact class kernels K^c = Φ^c Φ^cᵀ, (C, n, n), float64: `batch` inputs against as many at a time, 0 = all."""
    n = length(x)
    kernels = torch.zeros(network.classes, n, n, dtype=torch.float64)
    blocks = [(rows, take(x, rows)) for rows in torch.arange(n).split(batch or n)]
    for (rows, left), (columns, right) in combinations_with_replacement(blocks, 2):
        block = _exact_block(network, left, right)
        kernels[:, rows[:, None], columns] = block
        kernels[:, columns[:, None], rows] = block.mT
    return kernels


@torch.no_grad()
def _exact_block(network: Network, x: Batch, y: Batch) -> Tensor:
    """Φ^c(x) Φ^c(y)ᵀ, summed parameter by parameter: (C, b, b'); if y is x, its gradients are taken once."""
    tapes = [run(network, part) for part in ((x,) if y is x else (x, y))]
    if len({tape.rest for tape in tapes}) > 1:
        # Both must give their gradients in the same order.
        tapes = [run(network, part, fast=False) for part in (x, y)]
    each = [_gradients(network, part, tape) for part, tape in zip((x, y), tapes, strict=False)]
    left, right = tee(each[0]) if y is x else each
    block = torch.zeros(network.classes, length(x), length(y), dtype=torch.float64)
    for (c, g), (_, h) in zip(left, right, strict=True):
        block[c] += (g @ h.T).double().cpu()
    return block


def _gradients(network: Network, x: Batch, tape: Tape) -> Iterator[tuple[int, Tensor]]:
    """Every logit's gradient with respect to every parameter, one at a time: (c, (b, p))."""
    sides, general = input_sides(tape.calls), general_gradients(network, x, tape.rest, tape.logits)
    for c, (cotangent, signals) in enumerate(signals_of_logits(tape, batched=False)):
        for _, gradient in named_gradients(network, sides, signals, general(cotangent)):
            yield c, gradient


def exact_batch(network: Network, compute: Compute) -> int:
    """Inputs of one block of exact kernels: two blocks are at hand at a time, with all patches."""
    each = input_bytes(network, all_patches(network), whole_gradients=False, k=0)
    return compute.batch or max(1, compute.memory // (2 * each))


def batch_size(network: Network, through: Projector, compute: Compute) -> int:
    """Inputs at once: as many as were asked for, or as are estimated to fit and to be worth it."""
    most = inputs_together(resolve_device(compute.device), sum(call.size for call in network.calls))
    return compute.batch or max(1, min(most, compute.memory // bytes_per_input(network, through)))


def bytes_per_input(network: Network, through: Projector) -> int:
    """Estimate what one more input in a batch costs."""
    return input_bytes(network, through.kept, isinstance(through, WholeGradients), through.k)


def _name_nonfinite(network: Network, tape: Tape, signals: Signals, rest: dict[str, Tensor], c: int) -> None:
    """Raise a DNTKError that names the parameter whose gradient is not finite."""
    for name, gradient in named_gradients(network, input_sides(tape.calls), signals, rest):
        if not torch.isfinite(gradient).all():
            raise DNTKError(
                f"the gradient of logit {c} with respect to {name!r} is not finite; "
                "check the network's weights and that its inputs are scaled as in training"
            )
    raise DNTKError(f"the projected gradient of logit {c} overflows float32; scale the network's outputs down")
