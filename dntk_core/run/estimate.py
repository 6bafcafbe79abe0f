"""How much memory and disk a run will take, estimated before anything is computed."""

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import nn

from dntk_core.base.columns import Columns, in_words, share_out
from dntk_core.base.compute import Compute
from dntk_core.base.device import resolve_device
from dntk_core.base.errors import DNTKError
from dntk_core.base.memory import available_bytes
from dntk_core.base.spec import ProjectionSpec, RunSpec
from dntk_core.base.terminal import size
from dntk_core.data.dataset import Dataset, check_distillable, choose_inputs
from dntk_core.gradients.batch_memory import expected_input_bytes
from dntk_core.gradients.network import Network
from dntk_core.gradients.preparation import prepare
from dntk_core.gradients.stream import projected_dimension
from dntk_core.models.architectures import build_model
from dntk_core.models.parameters import group_names, narrow
from dntk_core.models.seen import example
from dntk_core.run.sizes import disk, live_bytes, sizes_of
from dntk_core.run.work import Given


@dataclass(frozen=True)
class Estimate:
    """Bytes: disk that a run fills, memory for the kernels and for one batch of gradients; groups: what they cost."""

    disk: int
    kernels: int
    batch: int
    groups: str = ""

    def check(self, root: Path, memory: int, device_memory: int) -> None:
        """Refuse a run that does not fit under `root` or in memory; kernels live on the CPU, batches on the device."""
        there = next(path for path in (root, *root.parents) if path.exists())
        free = shutil.disk_usage(there).free
        if self.disk > free:
            raise DNTKError(
                f"this run would take {size(self.disk)} of disk, {size(free)} are free in {there}; "
                "choose a smaller k or fewer inputs, free some space, or set DNTK_CACHE_DIR to another disk"
            )
        if self.kernels > memory:
            raise DNTKError(
                f"the kernels of this run would take {size(self.kernels)} of memory, {size(memory)} are free; "
                "choose fewer kernel or test inputs, or fewer classes"
            )
        if self.batch > device_memory:
            raise DNTKError(
                f"one batch of gradients would take {size(self.batch)} of memory, {size(device_memory)} are free; "
                "choose a smaller --batch, k or image size, or the structured projection"
            )


def check(
    spec: RunSpec, data: Dataset, stages: Sequence[str], compute: Compute, root: Path, given: Given | None = None
) -> str:
    """Refuse what cannot succeed before anything of these stages is computed or written; what groups cost, in words."""
    device = resolve_device(compute.device)
    if "inputs" in stages:
        choose_inputs(data, spec.inputs)
    if "distilled" in stages:
        check_distillable(data, spec.dataset.per_class)
    if given:
        model = given.network
    else:
        model = build_model(spec.model, data.channels, data.class_names, compute.own_code, example(data))
        model = narrow(model, spec.projection.parameters)
    if "features" in stages:
        memory = available_bytes()
        device_memory = torch.cuda.mem_get_info(device)[0] if device.type == "cuda" else memory
        found = estimate(spec, data, model, compute)
        found.check(root, memory, device_memory)
        return found.groups
    return ""


def estimate(spec: RunSpec, data: Dataset, model: nn.Module, compute: Compute) -> Estimate:
    """Estimate from the spec and the network, which sees two images: disk is what all stages write."""
    P = sum(p.numel() for p in model.parameters() if p.requires_grad)
    k = projected_dimension(spec.projection, P)
    sizes = sizes_of(spec, len(data.class_names), k)
    # Without a set batch, as many inputs are taken as fit.
    network = prepare(model, example(data), spec.outputs)
    groups = in_words(shared_out(network, spec.projection, k), k) if spec.projection.groups else ""
    batch = max(1, compute.batch) * expected_input_bytes(network, spec.projection, k) + 4 * P
    return Estimate(disk(spec, sizes), live_bytes(sizes), batch, groups)


def shared_out(network: Network, spec: ProjectionSpec, k: int) -> list[Columns]:
    """The columns of every group of parameters; DNTKError for groups that cannot be made."""
    groups = group_names(tuple(network.sizes), spec.groups)
    return share_out({group: sum(network.sizes[name] for name in names) for group, names in groups.items()}, k)
