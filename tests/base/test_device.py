"""The device that tensors are computed on."""

import pytest
import torch
from jacobians import CPU

from dntk_core.base import device
from dntk_core.base.device import on_free_cores, resolve_device
from dntk_core.base.errors import DNTKError
from dntk_core.base.progress import Progress, ignore


def test_unknown_device():
    with pytest.raises(DNTKError, match="available"):
        resolve_device("abacus")
    assert resolve_device("cpu") == CPU


def test_torch_gets_the_free_cores_and_never_more_than_it_was_told(monkeypatch):
    told = torch.get_num_threads()
    for free, used in ((8, 3), (2, 2)):
        monkeypatch.setattr(device, "free_cores", lambda since=None, free=free: free)
        torch.set_num_threads(3)
        with on_free_cores(ignore):
            assert torch.get_num_threads() == used
        assert torch.get_num_threads() == 3
    torch.set_num_threads(told)


def test_a_long_stage_gives_up_cores_that_others_came_to_use(monkeypatch):
    told, free, heard = torch.get_num_threads(), [3], []
    monkeypatch.setattr(device, "free_cores", lambda since=None: free[0])
    monkeypatch.setattr(device, "_AGAIN", 0.0)
    torch.set_num_threads(3)
    with on_free_cores(heard.append) as report:
        for free[0] in (1, 2):
            report(Progress("features", free[0], 2))
            assert torch.get_num_threads() == free[0] == heard[-1].done
    assert torch.get_num_threads() == 3
    torch.set_num_threads(told)
