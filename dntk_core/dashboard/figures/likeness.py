"""Two runs' kernels against each other."""

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from dntk_core.dashboard.drawing import literal
from dntk_core.dashboard.drawing.palette import BLUE, SEQUENTIAL, TEXT, series
from dntk_core.dashboard.figures.canvas import colorbar, figure, on, panels

# Pixels of the angles' panel, however many bars stand beside it; of the table of classes at the most.
ANGLES, TABLE = 300, 900


def alike(similar: np.ndarray, angles: np.ndarray, names: Sequence[str]) -> go.Figure:
    """CKA (C + 1,) as bars, and the angles (C + 1, r) of the leading directions; the mean kernel comes last."""
    shown, last = [literal.plotly(name) for name in names], len(names) - 1
    bars = {
        "type": "bar",
        "orientation": "h",
        "name": "CKA",
        "x": similar,
        "y": shown,
        "marker": {"color": [TEXT if c == last else BLUE for c in range(len(names))]},
        "text": [f"{value:.2f}" for value in similar],
        "textposition": "outside",
        "cliponaxis": False,
        "hovertemplate": "%{y}: CKA %{x:.3f}<extra></extra>",
        "meta": {"x": "CKA", "y": "kernel"},
        "showlegend": False,
        **on(0),
    }
    lines = [
        {
            "type": "scatter",
            "mode": "lines+markers",
            "name": shown[c],
            "x": np.arange(1, angles.shape[1] + 1),
            "y": angles[c],
            "line": {"color": TEXT if c == last else series(c), "width": 3 if c == last else 1.5},
            "opacity": 1 if c == last else max(0.2, 0.7 - 0.01 * last),
            "hovertemplate": f"{shown[c]}: angle %{{x}} is %{{y:.1f}}°<extra></extra>",
            "meta": {"x": "direction", "y": "angle"},
            "showlegend": False,
            **on(1),
        }
        for c in range(len(names))
    ]
    x = [{"range": [0, 1.12]}, {"title": "leading directions, best first"}]
    bars_height = 21 * len(names)
    y = [
        {"type": "category", "autorange": "reversed", "showgrid": False, "dtick": 1},
        {"range": [0, 92], "ticksuffix": "°", "domain": [1 - min(1, ANGLES / bars_height), 1]},
    ]
    layout = panels(["CKA", "principal angles"], 2, x, y, gap=(0.1, 0))
    return figure([bars, *lines], height=max(300, 110 + bars_height), min_width=600, margin={"l": 84}, **layout)


def classes(between: np.ndarray, names: Sequence[str]) -> go.Figure:
    """CKA (C, C) of every class of A with every class of B."""
    shown = [literal.plotly(name) for name in names]
    heat = {
        "type": "heatmap",
        "x": shown,
        "y": shown,
        "z": between,
        "colorscale": SEQUENTIAL,
        "texttemplate": "%{z:.2f}" if len(names) <= 12 else "",
        "colorbar": colorbar("CKA"),
        "hovertemplate": "A's %{y} and B's %{x}: CKA %{z:.3f}<extra></extra>",
        "meta": {"x": "class of B", "y": "class of A", "z": "CKA"},
    }
    plain = {"type": "category", "showgrid": False}
    return figure(
        [heat],
        height=min(max(320, 120 + 26 * len(names)), TABLE),
        margin={"l": 84, "b": 64},
        xaxis=plain | {"title": "class of B"},
        yaxis=plain | {"title": "class of A", "autorange": "reversed"},
    )
