"""Memory: how much there is, how much was held, and when it ran out."""

import os

import numpy as np
import pytest
import torch

from dntk_core.base.memory import available_bytes, forget_peak, out_of_memory, peak_bytes


@pytest.mark.skipif(not os.access("/proc/self/clear_refs", os.W_OK), reason="the peak can be reset on Linux alone")
def test_the_peak_sees_what_was_held():
    forget_peak()
    before = peak_bytes()
    held = np.ones(2**23)
    assert peak_bytes() - before > 0.5 * held.nbytes


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
