"""Kernel health: is it fit for its targets, and are the labels right? All without test data."""

import shlex
from collections.abc import Sequence

import numpy as np

from dntk_core.base.numbering import FIRST, number
from dntk_core.dashboard.asking.errors import of_set
from dntk_core.dashboard.choices.kernel import chosen_class, kernel_name
from dntk_core.dashboard.choices.picks import Pick
from dntk_core.dashboard.drawing.metrics import power
from dntk_core.dashboard.drawing.panel import Panel
from dntk_core.dashboard.drawing.recipe import class_flag
from dntk_core.dashboard.figures import health as figures
from dntk_core.dashboard.page import Page
from dntk_core.dashboard.sections.curves import nearest_ridge
from dntk_core.readout.leave_one_out import RIDGES
from dntk_core.run.checkup import alignments, left_out_sizes, risks, suspicious_labels, usual_sizes, where
from dntk_core.run.insight import Insight
from dntk_core.uses.health import Suspicion

TITLE = "Kernel health"
SHOWN = 24
RIDGE = r"""
Each kernel input is predicted by the readout of all others, in closed form: $y_i-f_{-i}(x_i)=\alpha_i/G_{ii}$ with
$G=(K^c+\lambda I)^{-1}$. **KARE** (Jacot et al. 2020) estimates the risk on unseen inputs from the kernel inputs alone,
$m\,y^\top G^2y/(\mathrm{tr}\,G)^2$, the same number as generalised cross-validation. Both should follow the error on
the **test inputs**; near $k\approx m$ that error peaks at small ridges, and so do they. **Fidelity** is the share of
inputs where kernel and network choose alike, **accuracy** the share where the kernel chooses the label; of the kernel
inputs, those labels the network has been trained on.
"""
SIZE = r"""
The method and readout of the sidebar with $s$ gradients, $f=S\,y$. A target that is left out is replaced by what the
readout itself then predicts there: $y_i-f_{-i}(x_i)=(y_i-f(x_i))/(1-S_{ii})$. The gradients stay as
they are, made of all inputs: a method that looks at targets is judged too kindly.
"""
WHERE = r"""
With $K=\sum_j\sigma_ju_ju_j^\top$: the share $\sum_{i\le j}(u_i^\top y)^2/\|y\|^2$ of the **targets** that lies in
the $j$ leading directions, and the share $\sum_{i\le j}\sigma_i/\mathrm{tr}\,K$ of the **kernel**. Targets that
lie where the kernel is strong are learnt from few inputs. **Alignment** is
$\langle HKH,yy^\top\rangle/(\|HKH\|_F\|Hy\|^2)$, centred by $H=I-\frac1m11^\top$: 1 if the kernel is the
targets alone.
"""
LABELS = r"""
The readout is fitted to labels, one-hot, and each input is voted on by all others, $f_{-i}(x_i)$. Its **margin** is the
vote for its label less the largest other vote; below 0 it is outvoted. **Self-influence** is what its own label adds to
its own score, $f(x_i)-f_{-i}(x_i)$. The ridge is the one with which labels predict each other best.
"""


def insight(here: Page) -> Insight:
    """The run, asked what its kernel is for."""
    return Insight(here.run, here.live)


def panels(here: Page) -> tuple[Panel, Panel, Panel, Panel]:
    """Errors over ridge and over size, where the targets lie, and the margins of labels."""
    return over_ridge(here), over_size(here), targets(here), labels(here)


def over_ridge(here: Page) -> Panel:
    """Left-out error, KARE and the test's over ridges."""
    live, ridges = here.live, np.array(RIDGES)
    left, test, risk = live.leave_one_out(RIDGES), live.ridge_curve(None, RIDGES), risks(insight(here), RIDGES)
    best, tested = left.best, RIDGES[int(np.argmin(test.mse))]
    figure = figures.errors(
        [(figures.LEFT_OUT, ridges, left), (figures.TEST, ridges, test)],
        "ridge",
        (figures.KARE, ridges, risk),
        here.view.ridge,
    )
    read = f"Leaving out inputs chooses ridge {power(best)}; the test inputs would choose {power(tested)}."
    return Panel("health_ridge", figure, "Over the ridge, with and without test data", read, RIDGE)


def over_size(here: Page) -> Panel:
    """Left-out error and the test's over the number of gradients."""
    view = here.view
    sizes = usual_sizes(insight(here))
    left = left_out_sizes(insight(here), view.method, sizes, view.ridge, view.readout)
    test = here.live.size_curve(view.method, sizes, view.ridge, by=view.readout)
    figure = figures.errors([(figures.LEFT_OUT, left.sizes, left), (figures.TEST, test.x, test)], "gradients s")
    read = (
        f"{view.method[0].upper()}{view.method[1:]}: with {left.sizes[-1]} gradients the left-out fidelity is "
        f"{left.fidelity[-1]:.1%}, on test inputs {test.fidelity[-1]:.1%}."
    )
    return Panel("health_size", figure, "Over the number of gradients", read, SIZE)


def targets(here: Page) -> Panel:
    """Where the targets lie."""
    c = chosen_class(here.view)
    found, aligned = where(insight(here), "logits", c), alignments(insight(here))
    half = int(np.searchsorted(found.targets, 0.5)) + 1
    value = float(aligned.mean() if c is None else aligned[c])
    read = (
        f"{half} of {len(found.kernel):,} directions hold half of the targets' energy ({kernel_name(here)} kernel, "
        f"which has {found.kernel[half - 1]:.0%} of its own there); alignment {value:.2f}."
    )
    return Panel("health_targets", figures.where(found), "Do the targets lie where the kernel is strong?", read, WHERE)


def labels(here: Page) -> Panel:
    """How far labels are outvoted."""
    found = suspicious(here)
    read = (
        f"{int((found.margin < 0).sum())} of {len(found.margin):,} labels are outvoted by the others, at ridge "
        f"{power(insight(here).label_ridge())}."
    )
    return Panel("health_labels", figures.margins(found), "Suspicious labels", read, LABELS)


def pick_at(here: Page, panel: str, point: dict) -> Pick | None:
    """The direction or the labels that a point stands for, or the inputs behind a score."""
    if panel == "health_targets":
        return Pick.of("direction", round(point["x"]) - FIRST)
    if panel == "health_labels":
        return Pick.of("labels", rank_at(here, point))
    # An estimate from the kernel alone has no inputs behind it.
    kind = {figures.TEST[0]: "errors", figures.LEFT_OUT[0]: "unseen"}.get(point["series"])
    if kind is None:
        return None
    metric = list(figures.PANELS)[int(point["axis"][1:] or 1) - 1]
    if panel == "health_ridge":
        return Pick(kind, (metric, "full"))
    return Pick(kind, of_set(metric, here.view.method, round(point["x"]), here.view.readout).parts)


def sliders_at(here: Page, panel: str, point: dict) -> dict:
    """The ridge of a point."""
    return {"ridge": nearest_ridge(float(point["x"]))} if panel == "health_ridge" else {}


def rank_at(here: Page, point: dict) -> int:
    """Where the labels of a bar begin among all, the most suspicious first."""
    margin = suspicious(here).margin
    counts, edges = np.histogram(margin, bins=figures.BINS)
    # A bar stands in the middle between two edges, where rounding cannot move it to its neighbour.
    before = counts[: int(np.searchsorted(edges[1:], point["x"]))]
    return min(int(before.sum()), len(margin) - 1)


def suspicious(here: Page) -> Suspicion:
    """The labels, judged."""
    return suspicious_labels(insight(here))


def notes(here: Page, index: Sequence[int]) -> list[str]:
    """Below each kernel input: its margin and, where it is outvoted, what the others vote for."""
    found, names, labels = suspicious(here), here.run.class_names, here.run.train_labels
    votes = [f"{names[found.vote[i]]}? " if found.vote[i] != labels[i] else "" for i in index]
    return [f"{vote}{found.margin[i]:+.2f}" for i, vote in zip(index, votes, strict=True)]


def described(here: Page, i: int) -> str:
    """One kernel input's label in a sentence."""
    found, names = suspicious(here), here.run.class_names
    rank = number(int(np.flatnonzero(found.order == i)[0]))
    return (
        f"Kernel input {number(i)} is labelled {names[here.run.train_labels[i]]}; all others vote "
        f"{names[found.vote[i]]}, margin {found.margin[i]:+.3f}, rank {rank} of {len(found.margin):,}. "
        f"Self-influence {found.influence[i]:+.3f}."
    )


def calls(here: Page) -> tuple[str, ...]:
    """The calls that give these numbers."""
    view, sizes = here.view, usual_sizes(insight(here))
    return (
        f"live.leave_one_out({list(RIDGES)})",
        f"live.ridge_curve(None, {list(RIDGES)})",
        f"risks(Insight(run, live), {list(RIDGES)})",
        f"left_out_sizes(Insight(run, live), {view.method!r}, {sizes}, {view.ridge}, {view.readout!r})",
        f"live.size_curve({view.method!r}, {sizes}, {view.ridge}, by={view.readout!r})",
        f"where(Insight(run, live), 'logits', {chosen_class(view)})",
        "alignments(Insight(run, live))",
        "suspicious_labels(Insight(run, live))",
    )


def command(here: Page) -> str:
    """The command that prints these numbers."""
    view = here.view
    words = f"health --run {here.run.key} --method {shlex.quote(view.method)} --readout {view.readout}"
    return f"python -m dntk_core {words} --ridge {view.ridge}{class_flag(here)} --json"
