"""Two runs on the same inputs: how alike their kernels are, class by class."""

import numpy as np

from dntk_core.base.numbering import FIRST
from dntk_core.dashboard.choices.kernel import mean_name
from dntk_core.dashboard.choices.picks import Pick
from dntk_core.dashboard.drawing import literal
from dntk_core.dashboard.drawing.panel import Panel
from dntk_core.dashboard.figures import likeness as figures
from dntk_core.dashboard.page import Page
from dntk_core.run.asked import known
from dntk_core.run.likeness import MOST_CLASSES, Likeness, class_likeness, likeness, trust

ALIKE = r"""
**CKA** $\langle HKH,HLH\rangle/(\|HKH\|_F\|HLH\|_F)$ of the two runs' kernels, centred by $H=I-\frac1m11^\top$: 1 if
they are equal up to scale. Each kernel is estimated from two halves of its projected features and only products of
different halves are taken, so that the noise of the projection does not count as likeness or unlikeness. **Angles**
are those between the leading directions of both kernels, the smallest first.
"""
CLASSES = r"""
CKA of every class kernel of run A with every class kernel of run B. A diagonal that stands out says that a class uses
the network in a way of its own; without one, all logits move the network alike.
"""


def panels(one: Page, other: Page) -> tuple[Panel, ...]:
    """CKA and angles per class and mean, and CKA between every two classes."""
    runs, names = (one.run, other.run), [*one.run.class_names, mean_name(one.run.class_names)]
    found: Likeness = one.live.remember(("likeness", other.run.key), lambda: likeness(runs))
    similar = found.cka[:, 0, 1]
    probed = [exact for run in runs if (exact := known(run, "probed")) is not None]
    error = f" Measured {trust(runs, probed)}." if len(probed) == 2 else ""
    read = (
        f"The mean kernels have a CKA of {similar[-1]:.2f}, those of classes {similar[:-1].min():.2f} to "
        f"{similar[:-1].max():.2f}; the networks choose alike on {found.agreement[0, 1]:.1%} of test inputs.{error}"
    )
    drawn = figures.alike(similar, found.angles[:, 0, 1], names)
    shown = [Panel("likeness", drawn, "How alike are the kernels?", read, ALIKE)]
    if 1 < len(names) - 1 <= MOST_CLASSES:
        shown.append(_classes(one, other, names[:-1]))
    return tuple(shown)


def asked_at(one: Page, panel: str, point: dict) -> tuple[int | str, Pick | None]:
    """The kernel that a bar, a line or a cell is of, and what it stands for: its direction, its class, two classes."""
    names = [literal.plotly(name) for name in one.run.class_names]
    if panel == "class_likeness":
        a, b = (names.index(point[axis]) for axis in ("y", "x"))
        return a, Pick.of("class", *dict.fromkeys((a, b)))
    name = point["y"] if point["series"] == "CKA" else point["series"]
    kernel = names.index(name) if name in names else "mean"
    if point["series"] != "CKA":
        return kernel, Pick.of("direction", round(point["x"]) - FIRST)
    return kernel, Pick.of("class", kernel) if isinstance(kernel, int) else None


def _classes(one: Page, other: Page, names: list[str]) -> Panel:
    between = one.live.remember(("class likeness", other.run.key), lambda: class_likeness(one.run, other.run))
    own, C = np.diag(between).mean(), len(names)
    rest = (between.sum() - np.trace(between)) / max(C * (C - 1), 1)
    read = f"Kernels of the same class have a CKA of {own:.2f} on average, of different classes {rest:.2f}."
    return Panel("class_likeness", figures.classes(between, names), "Between classes", read, CLASSES)
