"""The device that tensors are computed on, and how many cores they get."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

import torch

from dntk_core.base.errors import DNTKError
from dntk_core.base.processes import local_rank
from dntk_core.base.progress import Progress, Report
from dntk_core.base.threads import free_cores, ticks

# Seconds after which cores are counted again: others come and go while a stage is computed.
_AGAIN = 5.0


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
def on_free_cores(report: Report) -> Iterator[Report]:
    """Let PyTorch use the cores that nobody else does, and no more than it was told to.

    Yields the listener for steps, at some of which cores are counted again: threads that wait for each other beside
    another program take several times the processor time of one.
    """
    told = torch.get_num_threads()
    torch.set_num_threads(min(told, free_cores()))
    looked, seen = time.monotonic(), ticks()

    def heard(event: Progress) -> None:
        nonlocal looked, seen
        if time.monotonic() - looked >= _AGAIN:
            torch.set_num_threads(min(told, free_cores(seen)))
            looked, seen = time.monotonic(), ticks()
        report(event)

    try:
        yield heard
    finally:
        torch.set_num_threads(told)
