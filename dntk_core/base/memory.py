"""How much memory there is, how much this process has held, and when it ran out."""

import os
import resource
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


def peak_bytes() -> int:
    """Largest resident set since the last `forget_peak`, or since the start where that cannot be reset."""
    if (found := _status("VmHWM")) is not None:
        return found
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def forget_peak() -> None:
    """Start measuring anew (Linux; elsewhere the peak stays that of the whole process)."""
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


@contextmanager
def at_most(more: int) -> Iterator[None]:
    """Let this process allocate so many bytes more than it has, no others: what asks for them meets a MemoryError.

    Where the system does not say what the process has, there is no limit.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    held = _status("VmData")
    if held is not None:
        limit = held + more
        resource.setrlimit(resource.RLIMIT_DATA, (limit if soft == resource.RLIM_INFINITY else min(soft, limit), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))


def _status(name: str) -> int | None:
    """Bytes that Linux says of this process under a name; None elsewhere."""
    with suppress(OSError):
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith(f"{name}:"):
                return int(line.split()[1]) * 1024
    return None


def available_bytes() -> int:
    """Free memory of the machine, or of this process's container where that is less."""
    free = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    with suppress(OSError):
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                free = int(line.split()[1]) * 1024
    with suppress(OSError, ValueError):
        limit, used = (int(Path(f"/sys/fs/cgroup/memory.{name}").read_text()) for name in ("max", "current"))
        free = min(free, max(limit - used, 0))
    return free


def out_of_memory(error: BaseException) -> bool:
    """Whether memory ran out; PyTorch's own error is recognised by its name, so that PyTorch need not be loaded."""
    named = any(kind.__name__ == "OutOfMemoryError" for kind in type(error).__mro__)
    return named or isinstance(error, MemoryError) or "can't allocate memory" in str(error)
