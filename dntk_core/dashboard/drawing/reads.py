"""What curves say, in one sentence computed from their numbers."""

from collections.abc import Sequence

import numpy as np

from dntk_core.dashboard.drawing.metrics import FIRST, power, rounded
from dntk_core.readout.comparison import MethodCurve
from dntk_core.readout.curves import Curve

# Within so much of the best, a score is as good.
NEARLY = 0.01


def over_count(curve: Curve, name: str, mark: float) -> str:
    """From which size or rank on more hardly helps, and what there is where the sliders stand."""
    share = curve[FIRST]
    enough = int(np.argmax(share >= np.nanmax(share) - NEARLY))
    here = int(np.argmin(np.abs(curve.x - mark)))
    sentence = (
        f"Fidelity is within one point of its best, {np.nanmax(share):.1%}, from {name} = {curve.x[enough]:,.0f} on; "
        f"at {curve.x[here]:,.0f}, the nearest to the sliders, it is {share[here]:.1%}"
    )
    growth = curve.condition[-1] / max(curve.condition[0], 1.0)
    return f"{sentence}. The solve's condition number grows {rounded(growth)} times along the way."


def over_ridge(curve: Curve, name: str, mark: float) -> str:
    """Between which ridges it does not matter, and whether the sliders stand there."""
    share = curve[FIRST]
    good = np.flatnonzero(share >= share.max() - NEARLY)
    low, high = float(curve.x[good[0]]), float(curve.x[good[-1]])
    stands = "within it" if low <= mark <= high else "too small" if mark < low else "too large"
    return (
        f"Fidelity is within one point of its best, {share.max():.1%}, for {name}s from {power(low)} to "
        f"{power(high)}; the slider, at {power(mark)}, is {stands}."
    )


def of_methods(curves: Sequence[MethodCurve], chosen: str) -> str:
    """Who leads with few gradients, how the chosen method does, and what the paper does not compare with."""
    sizes = curves[0].sizes
    i = int(np.argmin(np.abs(sizes - 5)))
    means = {curve.method: float(curve.mean(FIRST)[i]) for curve in curves}
    known = {name: value for name, value in means.items() if not np.isnan(value)}
    best = max(known, key=lambda name: known[name])
    sentence = f"With at most {sizes[i]:,} gradients {best} leads, fidelity {known[best]:.1%}"
    if chosen != best and chosen in known:
        sentence += f"; {chosen}, drawn thick, has {known[chosen]:.1%}"
    return f"{sentence}. The dashed line is the chosen method in the other readout."
