"""Gradient distillation: what Algorithm 1 keeps and what its gradients are made of."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import plotly.graph_objects as go

from dntk_core.base.numbering import FIRST as NUMBERED
from dntk_core.dashboard.choices.mixing import READOUT, current_distillation, current_mixing
from dntk_core.dashboard.choices.picks import Pick
from dntk_core.dashboard.drawing.metrics import FIRST, METRICS, written
from dntk_core.dashboard.drawing.panel import Panel
from dntk_core.dashboard.drawing.recipe import mixing_call
from dntk_core.dashboard.drawing.words import faces
from dntk_core.dashboard.figures import distillation as figures
from dntk_core.dashboard.figures.canvas import marked
from dntk_core.dashboard.page import Page
from dntk_core.distill import METHODS

TITLE = "Gradient distillation"
ROWS, PRINTED_ROWS = 6, 24
OUTCOME = (
    r"""
**Algorithm 1** on $\bar K=\frac1C\sum_cK^c$: cut the inputs into $H$ clusters; keep each cluster's leading local
eigenvectors up to a share $\tau_v$ of its variance (*local*); add the global eigenvectors $u_j$, $j\le r_g$, with
coverage $c_j<\tau_g$ (*gap*); orthogonalise in that order and drop what depends on earlier rows (*removed*). The rows
form $A\in\mathbb R^{s\times m}$: gradients $\hat\Phi=A\Phi$, targets $\hat Y=AY$.
"""
    + READOUT
    + r"""
**Accuracy** is against labels, **fidelity** is agreement with the network's own choice, **MSE** is over logits; below
each share stands its 95% interval (Wilson's). Another method in the sidebar is given as many gradients as Algorithm 1
makes at these settings.
"""
)
GALLERY = r"""
Row $i$ of $A$ makes the gradient $\hat\varphi_i=\sum_jA_{ij}\varphi_j$. Shown are the inputs $j$ with the largest
$|A_{ij}|$, framed by sign: blue adds, orange subtracts. Its soft label is $\hat y_i=\sum_jA_{ij}y_j$, one bar per
class, each row scaled to its largest bar.
"""


def panels(here: Page, page: int = 1) -> tuple[Panel, Panel]:
    """The outcome, and the synthetic gradients of one page of them."""
    live, view, run = here.live, here.view, here.run
    mixing = current_mixing(live, view)
    t = len(live.problem.labels)
    scores, full = current_distillation(live, view).scores(live)
    network = float(np.mean(live.problem.logits.argmax(axis=1) == live.problem.labels))
    method = METHODS[view.method]
    made = f" {mixing.description}." if mixing.description else ""
    looks = " It looks at the network's outputs; the paper's method does not." if method.uses_targets else ""
    title = "Algorithm 1: local-global" if view.method == "local-global" else view.method[0].upper() + view.method[1:]
    read = (
        f"{mixing.size} synthetic gradients stand in for {len(run.targets)}: fidelity "
        f"{written(METRICS[FIRST], scores[FIRST], t)}, {written(METRICS[FIRST], full[FIRST], t)} with all.{made}{looks}"
    )
    shown = figures.alternating(mixing)[(page - 1) * ROWS : page * ROWS]
    gallery = _gallery(here, shown)
    row = here.picked.place("gradient", mixing.size) if here.picked else None
    if row in shown:
        place = shown.index(row)
        gallery = marked(gallery, {"xref": "paper", "x0": 0, "x1": 1, "y0": place - 0.5, "y1": place + 0.55})
    return (
        Panel("distillation", figures.outcome(mixing, scores, full, network, t), title, read, OUTCOME),
        Panel(
            "gradients",
            gallery,
            "Synthetic gradients",
            "Each row is one gradient, local and gap by turns: the inputs that weigh most in it, blue added and "
            "orange subtracted, and its soft label.",
            GALLERY,
        ),
    )


def printed(here: Page) -> tuple[Panel, ...]:
    """The outcome, and all synthetic gradients."""
    outcome, gallery = panels(here)
    count = current_mixing(here.live, here.view).size
    parts = [
        replace(
            gallery,
            key=f"{gallery.key}_{first}",
            figure=_gallery(here, range(first, min(first + PRINTED_ROWS, count))),
            title=_range(first, count),
        )
        for first in range(0, count, PRINTED_ROWS)
    ]
    return outcome, *parts


def _range(first: int, count: int) -> str:
    return f"Synthetic gradients {first + 1} to {min(first + PRINTED_ROWS, count)} of {count}"


def _gallery(here: Page, shown: Sequence[int]) -> go.Figure:
    run, mixing = here.run, current_mixing(here.live, here.view)
    return figures.gallery(mixing, run.targets, faces(run), run.train_labels, run.class_names, shown)


def pick_at(here: Page, panel: str, point: dict, page: int = 1) -> Pick | None:
    """What a bar of the outcome, a tile or a soft label stands for; `page`: of the gallery."""
    mixing, series, data = current_mixing(here.live, here.view), point["series"], point.get("customdata")
    for name, metric in METRICS.items():
        if series == metric.title:
            side = {"s": "distilled", "m": "full"}.get(str(point["x"]).split(" ")[0], "network")
            return Pick("errors", (name, side))
    if series == "weight" and data:
        return Pick.of("input", int(data[0]) - NUMBERED)
    if series == "soft label" and data:
        return Pick.of("gradient", figures.alternating(mixing)[(page - 1) * ROWS + int(data[2])])
    rows = [row for row, origin in enumerate(mixing.origin) if origin.kind == series]
    return Pick.of("gradient", rows[0]) if rows else None


def pages(here: Page) -> int:
    """How many pages the gallery has."""
    return max(1, -(-current_mixing(here.live, here.view).size // ROWS))


def calls(here: Page) -> tuple[str, ...]:
    """The calls that give the scores of the distilled set and of the full kernel."""
    view = here.view
    distilled = f'live.scores({mixing_call(here)}, ridge={view.ridge}, by="{view.readout}")'
    return distilled, f"live.scores(None, ridge={view.ridge})"
