"""All that depends on the kind of device: copies, precision, how many inputs and logits at once, memory given back."""

from contextlib import AbstractContextManager

import torch
from torch import Tensor, nn

from dntk_core.data.batch import Batch, apply, leaves

# Inputs at once, at most. On a CPU: bytes of activations beyond which more inputs take longer each, since signals leave
# its caches (a MobileNetV2 at 128 px takes 1.8 times as long by 64 as by 16), and inputs that share weights once read.
MOST, NEAR, FEW = 256, 64 * 2**20, 16


def device_of(batch: Batch) -> torch.device:
    """Where a batch lies."""
    return leaves(batch)[0].device


def send(batch: Batch, device: torch.device) -> Batch:
    """A batch on a device; from pinned memory to a GPU, so that the copy runs beside the computation."""
    if device.type != "cuda":
        return apply(lambda leaf: leaf.to(device), batch)
    return apply(lambda leaf: _pinned(leaf).to(device, non_blocking=True), batch)


def inputs_together(device: torch.device, activations: int) -> int:
    """Inputs of so many activations each that are taken at once where memory is no limit."""
    return min(MOST, max(FEW, NEAR // (4 * max(1, activations)))) if device.type == "cpu" else MOST


def logits_together(device: torch.device) -> bool:
    """Whether all logits are back-propagated at once: a GPU is then busier, on a CPU a loop is faster."""
    return device.type == "cuda"


def products_in(precision: str, device: torch.device) -> AbstractContextManager:
    """Do the network's products, forward and backward, in bfloat16 where that is asked for.

    Without autocast's memory of weights, which would hide that a weight is used twice.
    """
    return torch.autocast(device.type, torch.bfloat16, enabled=precision != "float32", cache_enabled=False)


def laid_out(network: nn.Module, precision: str) -> nn.Module:
    """Weights in the layout that products in half precision want, else they copy into it."""
    return network if precision == "float32" else network.to(memory_format=torch.channels_last)


def release(device: torch.device) -> None:
    """Give memory that is kept for reuse back, after there was too little."""
    if device.type == "cuda":
        torch.cuda.empty_cache()


def _pinned(leaf: Tensor) -> Tensor:
    return leaf.pin_memory() if leaf.device.type == "cpu" else leaf
