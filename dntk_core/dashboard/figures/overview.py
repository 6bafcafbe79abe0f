"""The whole idea in one picture: how many gradients it takes."""

from collections.abc import Mapping

import plotly.graph_objects as go

from dntk_core.dashboard.drawing.palette import BLUE, FULL, GREY
from dntk_core.dashboard.figures.canvas import PERCENT, figure, log_axis
from dntk_core.readout.curves import Curve

COLOURS = (BLUE, GREY)


def few(curves: Mapping[str, Curve], m: int, full: float) -> go.Figure:
    """Fidelity over the number of gradients, by method; `full` is that of all m."""
    lines = [
        {
            "type": "scatter",
            "mode": "lines+markers",
            "name": name,
            "x": curve.x,
            "y": curve.fidelity,
            "line": {"color": colour, "width": 3 if colour == BLUE else 1.5},
            "marker": {"size": 7},
            "hovertemplate": f"{name}: %{{x}} gradients, %{{y:.1%}}<extra></extra>",
        }
        for (name, curve), colour in zip(curves.items(), COLOURS, strict=True)
    ]
    first = min(float(curve.x[0]) for curve in curves.values())
    line = {"color": FULL, "width": 1.5, "dash": "dash"}
    whole = {"type": "scatter", "mode": "lines", "name": f"all {m:,} gradients", "x": [first, m], "y": [full, full]}
    hover = f"all {m:,}: {full:.1%}<extra></extra>"
    ends = [axis for curve in curves.values() for axis in (curve.x,)]
    return figure(
        [*lines, whole | {"line": line, "hovertemplate": hover}],
        height=300,
        xaxis=log_axis(*ends) | {"title": "gradients kept"},
        yaxis={"title": "predictions as the network's", "tickformat": PERCENT, "range": [0, 1.04]},
    )
