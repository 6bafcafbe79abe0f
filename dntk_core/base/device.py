"""The device that tensors are computed on, and how many cores they get."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch

from dntk_core.base.errors import DNTKError
from dntk_core.base.processes import local_rank
from dntk_core.base.threads import free_cores


def resolve_device(name: str) -> torch.device:
    """Return the device; `auto` takes cuda, then mps, then cpu; of several GPUs each rank takes its own."""
    available = {"cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available(), "cpu": True}
    if name == "auto":
        name = next(kind for kind, usable in available.items() if usable)
    if not available.get(name, False):
        usable = ", ".join(kind for kind, usable in available.items() if usable)
        raise DNTKError(f"device {name!r} is not available here; available: auto, {usable}")
    return torch.device(name, local_rank() % torch.cuda.device_count()) if name == "cuda" else torch.device(name)


@contextmanager
def on_free_cores() -> Iterator[None]:
    """Let PyTorch use the cores that nobody else does, and no more than it was told to."""
    before = torch.get_num_threads()
    torch.set_num_threads(min(before, free_cores()))
    try:
        yield
    finally:
        torch.set_num_threads(before)
