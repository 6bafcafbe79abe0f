"""Health of a kernel: errors with and without test data, where the targets lie, how far labels are outvoted."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
import plotly.graph_objects as go

from dntk_core.dashboard.drawing.palette import BLUE, GREEN, GREY, ORANGE, VERMILION
from dntk_core.dashboard.figures.canvas import figure, log_axis, on, panels, ridge_axis, thin
from dntk_core.uses.health import Suspicion, Where

# (name, colour, dash): the test's curves are the ones without test data are checked by.
LEFT_OUT, TEST, KARE = ("left out", BLUE, "solid"), ("test inputs", ORANGE, "dash"), ("KARE", GREEN, "dot")
Look = tuple[str, str, str]
# What is drawn of scores over ridges or sizes, panel by panel.
BINS = 60
PANELS = {"mse": "Squared error of a logit", "fidelity": "Fidelity", "accuracy": "Accuracy"}


class Scored(Protocol):
    """Scores over q ridges or sizes, (q,) each."""

    @property
    def mse(self) -> np.ndarray: ...
    @property
    def fidelity(self) -> np.ndarray: ...
    @property
    def accuracy(self) -> np.ndarray: ...


def errors(
    scored: Sequence[tuple[Look, np.ndarray, Scored]],
    x: str,
    risk: tuple[Look, np.ndarray, np.ndarray] | None = None,
    mark: float | None = None,
) -> go.Figure:
    """Three panels over ridges or sizes: error, fidelity and accuracy; a risk (look, x, y) is drawn with the errors."""
    traces, titles = [], [*PANELS.values()]
    errors_drawn = [(look, at, each.mse) for look, at, each in scored] + ([] if risk is None else [risk])
    for panel, key in enumerate(PANELS):
        drawn = [(look, at, getattr(each, key)) for look, at, each in scored] if panel else errors_drawn
        for (name, colour, dash), at, values in drawn:
            traces.append(
                {
                    "type": "scatter",
                    "mode": "lines+markers",
                    "name": name,
                    "legendgroup": name,
                    "showlegend": panel == 0,
                    "x": at,
                    "y": values,
                    "line": {"color": colour, "dash": dash, "width": 2},
                    "marker": {"size": 5},
                    "hovertemplate": f"{name}: %{{y:.4g}} at {x} %{{x:.4g}}<extra></extra>",
                    "meta": {"y": titles[panel]},
                    **on(panel),
                }
            )
    points = [values for _, _, values in errors_drawn]
    places = [at for _, at, _ in errors_drawn]
    axis = (ridge_axis(places[0]) if x == "ridge" else log_axis(*places)) | {"title": x}
    layout = panels(
        titles,
        3,
        [axis] * 3,
        [log_axis(*points), {"tickformat": ".1~%"}, {"tickformat": ".1~%"}],
        gap=(0.08, 0),
    )
    shapes = [] if mark is None else [_mark(mark, panel) for panel in range(3)]
    return figure(traces, height=320, min_width=760, shapes=shapes, margin={"t": 48}, **layout)


def where(found: Where) -> go.Figure:
    """Cumulated shares of targets and of the kernel over directions."""
    at = thin(len(found.kernel))
    rows = (("targets", found.targets, VERMILION), ("kernel", found.kernel, GREY))
    traces = [
        {
            "type": "scatter",
            "mode": "lines",
            "name": name,
            "x": at + 1,
            "y": values[at],
            "line": {"color": colour, "width": 2.5},
            "hovertemplate": f"%{{y:.1%}} of the {name} in %{{x}} directions<extra></extra>",
        }
        for name, values, colour in rows
    ]
    y = {"title": "share held", "tickformat": ".0%", "range": [0, 1.02]}
    x = log_axis(*(trace["x"] for trace in traces)) | {"title": "leading directions of the kernel"}
    return figure(traces, height=300, xaxis=x, yaxis=y)


def margins(found: Suspicion) -> go.Figure:
    """How many labels have which left-out margin; below 0 they are outvoted."""
    counts, edges = np.histogram(found.margin, bins=BINS)
    centres = (edges[1:] + edges[:-1]) / 2
    bar = {
        "type": "bar",
        "x": centres,
        "y": counts,
        "marker": {"color": [VERMILION if centre < 0 else BLUE for centre in centres]},
        "hovertemplate": "%{y} labels with a margin near %{x:.2f}<extra></extra>",
        "showlegend": False,
    }
    x = {"title": "left-out margin of the label"}
    return figure([bar], height=240, margin={"t": 8}, bargap=0.05, xaxis=x, yaxis={"title": "kernel inputs"})


def _mark(x: float, panel: int) -> dict:
    axes = on(panel)
    line = {"color": GREY, "width": 1.5, "dash": "dash"}
    return {
        "type": "line",
        "x0": x,
        "x1": x,
        "y0": 0,
        "y1": 1,
        "xref": axes["xaxis"],
        "yref": f"{axes['yaxis']} domain",
        "line": line,
    }
