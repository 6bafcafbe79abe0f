"""How much memory and disk a run will take, estimated before anything is computed."""

import shutil
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import nn

from dntk_core.base.compute import Compute
from dntk_core.base.device import resolve_device
from dntk_core.base.errors import DNTKError
from dntk_core.base.memory import available_bytes
from dntk_core.base.spec import RunSpec
from dntk_core.base.terminal import size
from dntk_core.data.dataset import Dataset, check_distillable, choose_inputs, load_data
from dntk_core.gradients.batch_memory import expected_input_bytes
from dntk_core.gradients.preparation import prepare
from dntk_core.gradients.stream import projected_dimension
from dntk_core.models.architectures import build_model
from dntk_core.models.training import Seen
from dntk_core.run.cautions import kernel_inputs
from dntk_core.run.work import Sizes, builder

# Analyses keep decompositions beside the kernels, about as large as these.
LIVE = 2


@dataclass(frozen=True)
class Estimate:
    """Bytes: disk that a run fills, memory for the kernels and for one batch of gradients."""

    disk: int
    kernels: int
    batch: int

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


def check(spec: RunSpec, compute: Compute, root: Path) -> Dataset:
    """Refuse what cannot succeed before anything is computed or written; returns the run's data."""
    device = resolve_device(compute.device)
    data = load_data(spec.data)
    choose_inputs(data, spec.inputs)
    if spec.distilled:
        check_distillable(data, spec.dataset.per_class)
    model = build_model(spec.model, data.channels, data.class_names, compute.own_code)
    memory = available_bytes()
    device_memory = torch.cuda.mem_get_info(device)[0] if device.type == "cuda" else memory
    estimate(spec, data, model, compute).check(root, memory, device_memory)
    return data


def estimate(spec: RunSpec, data: Dataset, model: nn.Module, compute: Compute) -> Estimate:
    """Estimate from the spec and the network, which sees two images: disk is what all stages write."""
    P = sum(p.numel() for p in model.parameters() if p.requires_grad)
    k = projected_dimension(spec.projection, P)
    C = len(data.class_names)
    sizes = Sizes(C, kernel_inputs(spec, C), spec.inputs.test, k, spec.inputs.kernel)
    writers = [module for module in map(builder, spec.stages) if hasattr(module, "disk")]
    # Without a set batch, as many inputs are taken as fit.
    network = prepare(model, Seen(data, data.train_images)[:2], spec.outputs)
    batch = max(1, compute.batch) * expected_input_bytes(network, spec.projection, k) + 4 * P
    return Estimate(sum(module.disk(sizes) for module in writers), LIVE * builder("kernels").disk(sizes), batch)
