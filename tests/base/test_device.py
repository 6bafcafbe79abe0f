"""The device that tensors are computed on."""

import pytest
from jacobians import CPU

from dntk_core.base.device import resolve_device
from dntk_core.base.errors import DNTKError


def test_unknown_device():
    with pytest.raises(DNTKError, match="available"):
        resolve_device("abacus")
    assert resolve_device("cpu") == CPU
