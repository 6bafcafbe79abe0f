"""Which classes something is made of."""

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from dntk_core.dashboard.drawing import literal
from dntk_core.dashboard.drawing.palette import BLUE
from dntk_core.dashboard.figures.canvas import figure

MOST = 20


def class_mix(shares: np.ndarray, names: Sequence[str], what: str) -> go.Figure:
    """One bar per class, the largest first; of many classes those that count most. shares: (C,)"""
    order = np.argsort(-shares, kind="stable")[:MOST]
    bars = {
        "type": "bar",
        "orientation": "h",
        "name": what,
        "x": shares[order],
        "y": [literal.plotly(names[int(c)]) for c in order],
        "marker": {"color": BLUE},
        "meta": {"x": what, "y": "class"},
        "hovertemplate": f"%{{y}}: %{{x:.1%}} of {what}<extra></extra>",
    }
    y = {"type": "category", "autorange": "reversed", "showgrid": False}
    x = {"title": f"share of {what}", "tickformat": ".3~%", "rangemode": "tozero"}
    return figure([bars], height=72 + 19 * len(order), showlegend=False, margin={"t": 4}, bargap=0.2, xaxis=x, yaxis=y)
