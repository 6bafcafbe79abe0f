"""Memory: how much there is, how much was held, and when it ran out."""

import subprocess
import sys

import pytest
import torch

from dntk_core.base.memory import available_bytes, out_of_memory


def test_the_peak_sees_what_was_held():
    """In a process of its own: where the peak cannot be reset, one that held more before would see nothing."""
    code = """
import numpy as np
from dntk_core.base.memory import forget_peak, peak_bytes
forget_peak()
before = peak_bytes()
held = np.ones(2**24)
del held
print((peak_bytes() - before) / 2**27)
"""
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert float(found.stdout) > 0.5


def test_some_memory_is_free():
    assert 2**20 < available_bytes() < 2**50


@pytest.mark.parametrize(
    ("error", "is_memory"),
    [
        (MemoryError(), True),
        (torch.OutOfMemoryError("CUDA out of memory"), True),
        (RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate memory: you tried"), True),
        (RuntimeError("shapes differ"), False),
    ],
)
def test_memory_that_ran_out_is_told_from_other_errors(error, is_memory):
    assert out_of_memory(error) is is_memory
