"""Shifts: images stay images, and each step goes further."""

import numpy as np
import pytest

from dntk_core.data.shifts import SHIFTS, STRENGTHS


@pytest.mark.parametrize("channels", [1, 3])
@pytest.mark.parametrize("name", SHIFTS)
def test_each_step_goes_further_and_stays_an_image(name, channels):
    images = np.random.default_rng(0).random((4, channels, 12, 12))
    images[:, :, 3:9, 3:9] = 1.0
    found = [SHIFTS[name](images, strength, np.random.default_rng(1)) for strength in STRENGTHS]
    assert all(each.shape == images.shape and each.min() >= 0 and each.max() <= 1 for each in found)
    # Turning wraps around at 360°, not before 75°; all others only ever lose.
    distances = [float(np.mean((each - images) ** 2)) for each in found]
    assert distances[0] > 0 and (name == "rotation" or distances == sorted(distances))
