"""Home: how many gradients it takes."""

import numpy as np

from dntk_core.dashboard.asking.errors import of_set
from dntk_core.dashboard.choices.picks import Pick
from dntk_core.dashboard.drawing.panel import Panel
from dntk_core.dashboard.figures import overview as figures
from dntk_core.dashboard.page import Page
from dntk_core.dashboard.sections.curves import method_sizes
from dntk_core.readout.curves import Curve

TITLE = "Overview"
# Two that are nested: all sizes cost no more than one.
METHODS = {"distilled gradients (kernel PCA)": "kernel PCA", "inputs drawn at random": "random"}
# Enough is so much of what all gradients reach.
ENOUGH = 0.98
DEFINITION = r"""
Each of the $m$ kernel inputs $x_i$ has a gradient $\nabla_\theta f(x_i)$ of the network; kernel regression on all of
them predicts nearly what the network does. **Distillation** mixes them into $s\ll m$ synthetic gradients $A\Phi$ and
fits those instead. **Fidelity** is the share of test inputs for which this chooses the network's class. Here $A$ holds
the leading eigenvectors of the mean kernel; at random, the gradients of $s$ inputs are taken as they are. The paper's
method and all others are on *Gradient distillation* and *Curves*.
"""


def panels(here: Page) -> tuple[Panel, ...]:
    """Fidelity over the number of gradients."""
    live, ridge, m = here.live, here.view.ridge, len(here.run.targets)
    curves = {name: live.size_curve(method, method_sizes(m), ridge) for name, method in METHODS.items()}
    full = float(live.scores(None, ridge).fidelity)
    distilled, random = curves.values()
    read = sentence(distilled, random, m, full)
    return (Panel("few", figures.few(curves, m, full), "How many gradients it takes", read, DEFINITION),)


def pick_at(here: Page, panel: str, point: dict) -> Pick:
    """The test inputs behind the score that a point stands for."""
    method = METHODS.get(str(point["series"]))
    return of_set("fidelity", method, round(point["x"])) if method else Pick("errors", ("fidelity", "full"))


def sentence(distilled: Curve, random: Curve, m: int, full: float) -> str:
    """How few gradients do the work of all, and what as many random ones do."""
    good = np.flatnonzero(distilled.fidelity >= ENOUGH * full)
    if not len(good):
        return f"No set of at most {int(distilled.x[-1]):,} gradients comes near the {full:.1%} of all {m:,} here."
    s, share = int(distilled.x[good[0]]), float(distilled.fidelity[good[0]])
    drawn = float(np.interp(np.log(s), np.log(random.x), random.fidelity))
    return (
        f"{s:,} distilled gradients predict as the network does for {share:.1%} of test inputs; all {m:,} do so for "
        f"{full:.1%}, {s:,} inputs drawn at random for {drawn:.1%}."
    )
