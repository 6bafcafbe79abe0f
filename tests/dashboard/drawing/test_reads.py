"""Sentences on curves say where more hardly helps and where the sliders stand."""

import numpy as np
import pytest

from dntk_core.dashboard.drawing.reads import of_methods, over_count, over_ridge
from dntk_core.readout.comparison import compare
from dntk_core.run.live import Live
from tests.synthetic import draw

LIVE = Live(draw().problem)
RIDGES = [1e-6, 1e-4, 1e-2, 1.0, 100.0]


def test_the_size_from_which_more_hardly_helps():
    curve = LIVE.rank_curve(range(1, 25), 1e-3)
    said = over_count(curve, "rank", 7)
    enough = next(
        r for r, share in zip(curve.x, curve["fidelity"], strict=True) if share >= curve["fidelity"].max() - 0.01
    )
    assert (
        f"from rank = {enough:.0f} on" in said
        and f"at 7, the nearest to the sliders, it is {curve['fidelity'][6]:.1%}" in said
    )


@pytest.mark.parametrize("mark, stands", [(1e-9, "too small"), (1e9, "too large")])
def test_a_ridge_outside_the_good_range_is_said_to_be(mark, stands):
    assert over_ridge(LIVE.ridge_curve(None, RIDGES), "ridge", mark).endswith(f"is {stands}.")


def test_the_leading_method_is_named_and_the_chosen_one_beside_it():
    curves = compare(LIVE.problem, [3, 5], 1e-3, range(2), ["random", "ridge-optimal"])
    at_five = {curve.method: curve.mean("fidelity")[1] for curve in curves}
    best = max(at_five, key=lambda name: at_five[name])
    other = next(name for name in at_five if name != best)
    assert f"5 gradients {best} leads, fidelity {at_five[best]:.1%}" in of_methods(curves, best)
    assert f"{other}, drawn thick, has {at_five[other]:.1%}" in of_methods(curves, other)
    assert not np.isnan(list(at_five.values())).any()
