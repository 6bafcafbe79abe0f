"""Layers: which parts of the network carry its kernel?"""

import numpy as np
import pandas as pd

from dntk_core.base.numbering import number
from dntk_core.dashboard.choices.kernel import chosen_class, kernel_name
from dntk_core.dashboard.choices.picks import Pick
from dntk_core.dashboard.drawing.panel import Panel
from dntk_core.dashboard.drawing.recipe import class_flag
from dntk_core.dashboard.figures import layers as figures
from dntk_core.dashboard.page import Page
from dntk_core.run.layers import Layers, layers
from dntk_core.run.pipeline import Run

TITLE = "Layers"
SHARES = r"""
The kernel is a sum over groups of parameters, $K=\sum_gK_g$. **Trace**: $\mathrm{tr}K_g/\mathrm{tr}K$, how much of
all squared gradients is the group's. **Fit**: the readout of the whole kernel is $f=\sum_gf_g$, and $\langle
f_g,f\rangle/\|f\|^2$ the group's share of it on test inputs. **Likeness**: CKA of $K_g$ with $K$, debiased, and
alignment of class kernels with their targets, the network's outputs, and with labels. **Accuracy** on test inputs of
the kernel $K_g$ alone and of $K-K_g$, each fitted to the network's outputs at the ridge of the sidebar in units of its
own $\mathrm{tr}/m$; the dashed line is the whole kernel. The kernel of the sidebar counts for shares and likeness;
accuracies need all classes.
"""
CLICK = "Click a bar for what its group gets wrong."
BETWEEN = r"""
CKA of the kernels of every two groups: 1 where two parts of the network see the same likeness of inputs. Groups with
no more parameters than columns are exact, those of others are debiased by halves of their columns.
"""


def kept(run: Run) -> bool:
    """Whether a run kept groups."""
    return len(run.columns) > 1


def found(here: Page) -> Layers:
    """The groups of the open run at the sidebar's ridge."""
    ridge, c = here.view.ridge, chosen_class(here.view)
    return here.live.remember(("layers", ridge, c), lambda: layers(here.run, ridge, c, here.live))


def panels(here: Page) -> tuple[Panel, ...]:
    """Shares and likeness of every group; none for a run that kept no groups."""
    if not kept(here.run):
        return ()
    parts = found(here)
    names = [columns.group for columns in parts.columns]
    most, fit, best = (names[int(np.argmax(each))] for each in (parts.trace, parts.fit, parts.alone))
    read = (
        f"{most} has {parts.trace.max():.0%} of the {kernel_name(here)} kernel's trace, {fit} {parts.fit.max():.0%} of "
        f"the fit; alone, {best} reaches {parts.alone.max():.1%} accuracy, all together {parts.full:.1%}."
    )
    return (
        Panel("layers", figures.shares(parts), "What every group brings", read, SHARES, CLICK),
        Panel("layers_between", figures.between(parts), "Groups against each other", alike(parts), BETWEEN),
    )


def pick_at(here: Page, panel: str, point: dict) -> Pick | None:
    """The group that a bar or a point stands for; of a cell, both."""
    names = figures.shown(found(here))
    if panel == "layers_between":
        return Pick.of("groups", names.index(point["y"]), names.index(point["x"]))
    without = "without" if point["series"] == figures.WITHOUT else "alone"
    return Pick("group", (str(number(names.index(point["y"]))), without))


def alike(parts: Layers) -> str:
    """Which two groups are most alike."""
    others = np.where(np.eye(len(parts.columns), dtype=bool), -np.inf, parts.between)
    a, b = np.unravel_index(int(np.argmax(others)), others.shape)
    names = [columns.group for columns in parts.columns]
    return f"{names[a]} and {names[b]} see the inputs most alike, with a CKA of {others[a, b]:.2f}."


def numbers(here: Page) -> pd.DataFrame:
    """The same as a table."""
    parts = found(here)
    return pd.DataFrame(
        {
            "Group": [columns.group for columns in parts.columns],
            "Parameters": [f"{columns.P:,}" for columns in parts.columns],
            "Dimensions": [
                "exact" if columns.exact else f"{columns.stop - columns.start:,}" for columns in parts.columns
            ],
            "Trace": [f"{share:.1%}" for share in parts.trace],
            "Fit": [f"{share:.1%}" for share in parts.fit],
            "CKA with the whole": [f"{value:.2f}" for value in parts.whole],
            "With outputs": [f"{value:.2f}" for value in parts.targets],
            "With labels": [f"{value:.2f}" for value in parts.labels],
            "Accuracy alone": [f"{value:.1%}" for value in parts.alone],
            "Without it": [f"{value:.1%}" for value in parts.without],
        }
    )


def calls(here: Page) -> tuple[str, ...]:
    """The calls that give these numbers."""
    return (f"layers(run, {here.view.ridge}, {chosen_class(here.view)})",)


def command(here: Page) -> str:
    """The command that prints these numbers."""
    return f"python -m dntk_core layers --run {here.run.key} --ridge {here.view.ridge}{class_flag(here)} --json"
