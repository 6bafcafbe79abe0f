import numpy as np
import pytest

from dntk_core.readout.intervals import paired_interval, share_interval


@pytest.mark.parametrize(("share", "t"), [(0.0, 50), (0.3, 50), (0.95, 500), (1.0, 200)])
def test_the_interval_holds_the_truth_19_times_in_20(share, t):
    """Of many samples of t inputs, their intervals hold the share they were drawn with."""
    drawn = np.random.default_rng(0).binomial(t, share, size=2000) / t
    low, high = np.array([share_interval(each, t) for each in drawn]).T
    assert np.mean((low <= share + 1e-12) & (share - 1e-12 <= high)) >= 0.92
    assert np.all(low >= -1e-12) and np.all(high <= 1 + 1e-12)


def test_pairing_finds_a_small_difference_that_two_intervals_hide():
    rng = np.random.default_rng(0)
    one = rng.random(1000) < 0.9
    # The second is right wherever the first is, and on 2 % more.
    two = one | (rng.random(1000) < 0.2)
    difference, low, high = paired_interval(two, one)
    assert 0 < low < difference < high
    assert share_interval(one.mean(), 1000)[1] > share_interval(two.mean(), 1000)[0]
    assert paired_interval(one, one) == (0.0, 0.0, 0.0)
