"""Where a run is computed."""

import pytest

from dntk_core.base.compute import Compute
from dntk_core.base.errors import DNTKError


def test_an_unknown_precision_is_refused():
    assert Compute(precision="bfloat16").precision == "bfloat16"
    with pytest.raises(DNTKError, match="precision must be one of float32, bfloat16, got 'float8'"):
        Compute(precision="float8")
