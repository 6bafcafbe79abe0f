"""Two figures side by side have the same axes."""

import numpy as np
import pytest

from dntk_core.dashboard.figures.canvas import figure
from dntk_core.dashboard.figures.sides import share_axes


def drawn(x, y, **axis):
    return figure([{"type": "scatter", "x": x, "y": y}], 200, xaxis={}, yaxis=axis)


@pytest.mark.parametrize("axis", [{}, {"type": "log"}, {"range": [0.0, 3.0]}])
def test_both_hold_the_data_of_both(axis):
    one, other = drawn([1, 2], [1.0, 2.0], **axis), drawn([3, 9], [50.0, 90.0], **(axis if "type" in axis else {}))
    share_axes(one, other)
    assert one.layout.yaxis.range == other.layout.yaxis.range and one.layout.xaxis.range == other.layout.xaxis.range
    low, high = one.layout.yaxis.range
    ends = np.log10([1.0, 90.0]) if "type" in axis else (1.0, 90.0)
    assert low <= ends[0] and high >= ends[1]


def test_squares_stay_squares_and_share_their_colours():
    one, other = (
        figure([{"type": "heatmap", "z": np.full((n, n), value)}], 200, xaxis={}, yaxis={"scaleanchor": "x"})
        for n, value in ((5, 0.2), (2, 0.9))
    )
    share_axes(one, other)
    assert (one.data[0].zmin, one.data[0].zmax) == (other.data[0].zmin, other.data[0].zmax) == (0.2, 0.9)
    assert one.layout.xaxis.range is None and one.layout.yaxis.range is None


def test_names_and_directions_of_axes_stay():
    down = {"range": [4.0, 0.0]}
    one, other = drawn([1], [1.0], **down), drawn([1], [1.0], range=[9.0, 0.0])
    share_axes(one, other)
    assert one.layout.yaxis.range == (9.0, 0.0)
    words = [figure([{"type": "bar", "x": names, "y": [1]}], 200, xaxis={}, yaxis={}) for names in (["a"], ["b"])]
    share_axes(*words)
    assert words[0].layout.xaxis.range is None
