"""Colours differ, also in lightness enough to be told apart on paper, and fade without changing hue."""

from dntk_core.dashboard.drawing.palette import SERIES, faded, series


def test_ten_series_have_ten_colours_and_then_they_repeat():
    assert len({series(i) for i in range(10)}) == 10 and series(10) == SERIES[0]


def test_a_faded_colour_is_the_same_with_less_of_it():
    assert faded("#0072B2", 0.25) == "rgba(0,114,178,0.25)"
