"""What a run will take of memory and disk, told before anything is computed."""

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
from dntk_core.data.dataset import Dataset
from dntk_core.gradients.stream import KEPT, projected_dimension
from dntk_core.kernels.class_kernels import LARGEST_DENSE

# Analyses keep decompositions beside the kernels, about as large as these.
LIVE = 2
# Shards of features lie beside the artifact made of them until it is finished.
COPIES = 2


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


def check_size(spec: RunSpec, data: Dataset, model: nn.Module, compute: Compute, root: Path) -> None:
    """Refuse a run that would not fit here."""
    device = resolve_device(compute.device)
    memory = available_bytes()
    device_memory = torch.cuda.mem_get_info(device)[0] if device.type == "cuda" else memory
    estimate(spec, data, model, compute).check(root, memory, device_memory)


def estimate(spec: RunSpec, data: Dataset, model: nn.Module, compute: Compute) -> Estimate:
    """Estimate from the spec, the network's parameters and the activations of one image."""
    C, t = len(data.class_names), spec.inputs.test
    m = spec.distill.per_class * C if spec.distilled else spec.inputs.kernel
    sizes = [p.numel() for p in model.parameters() if p.requires_grad]
    k = projected_dimension(spec.projection, sum(sizes))
    features = 4 * C * (m + t) * k
    kernels = 8 * C * m * (m + t) if m <= LARGEST_DENSE else 0
    whole = max(sizes) if spec.projection.name == "structured" else sum(sizes)
    each = 4 * (KEPT * _activations(model, data) + 4 * whole + (C + 4) * k)
    # Without a set batch, as many inputs are taken as fit.
    batch = each * max(1, compute.batch) + 4 * sum(sizes)
    return Estimate(COPIES * features + kernels, LIVE * kernels, batch)


@torch.no_grad()
def _activations(model: nn.Module, data: Dataset) -> int:
    """Numbers that the layers of a network put out for one image."""
    counted = []
    layers = [layer for layer in model.modules() if not [*layer.children()]]
    hooks = [layer.register_forward_hook(lambda _, __, out: counted.append(_numel(out))) for layer in layers]
    was_training = model.training
    try:
        model.eval()(torch.from_numpy(data.normalise(data.train_images[:1])).float())
    finally:
        model.train(was_training)
        for hook in hooks:
            hook.remove()
    return sum(counted)


def _numel(out) -> int:
    return out.numel() if isinstance(out, torch.Tensor) else 0
