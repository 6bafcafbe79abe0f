"""The largest memory this process has held."""

import resource
import sys
from contextlib import suppress
from pathlib import Path


def peak_bytes() -> int:
    """Largest resident set since the last `forget_peak`, or since the start where that is not to be had."""
    with suppress(OSError):
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def forget_peak() -> None:
    """Start measuring anew (Linux; elsewhere the peak stays that of the whole process)."""
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")
