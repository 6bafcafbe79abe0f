"""What images are normalised with."""

import numpy as np
from pictures import refused, spec

from dntk_core.base.spec import DataSpec
from dntk_core.data.dataset import load_data
from dntk_core.data.scale import scale


def test_scale_can_be_set(folder):
    data = load_data(spec(folder, mean="0.5,0.5,0.5", std="1,1,2"))
    assert data.mean == (0.5, 0.5, 0.5) and data.std == (1, 1, 2)
    assert "3 numbers" in refused(spec(folder, mean="0.5", std="1"))
    assert "3 numbers" in refused(spec(folder, mean="0,0,0", std="1,1,0"))


def test_arrays_are_measured_and_a_constant_channel_is_left_as_it_is():
    images = np.zeros((4, 2, 3, 3), np.float32)
    images[:2, 0] = 1.0
    assert scale(DataSpec(), images) == ((0.5, 0.0), (0.5, 1.0))
