"""The device that tensors are computed on."""

import pytest
import torch
from jacobians import CPU

from dntk_core.base import device
from dntk_core.base.device import on_free_cores, resolve_device
from dntk_core.base.errors import DNTKError


def test_unknown_device():
    with pytest.raises(DNTKError, match="available"):
        resolve_device("abacus")
    assert resolve_device("cpu") == CPU


def test_torch_gets_the_free_cores_and_never_more_than_it_was_told(monkeypatch):
    told = torch.get_num_threads()
    for free, used in ((8, 3), (2, 2)):
        monkeypatch.setattr(device, "free_cores", lambda free=free: free)
        torch.set_num_threads(3)
        with on_free_cores():
            assert torch.get_num_threads() == used
        assert torch.get_num_threads() == 3
    torch.set_num_threads(told)
