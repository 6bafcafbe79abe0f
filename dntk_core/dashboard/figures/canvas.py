"""The empty figure that every figure starts from."""

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from dntk_core.dashboard.palette import SERIES


def canvas(height: int, x: str = "", y: str = "", **layout) -> go.Figure:
    """An empty figure: tight margins, legend on top, text and grid left to the page's theme."""
    figure = go.Figure()
    figure.update_layout(xaxis_title=x, yaxis_title=y, **_common(height))
    return figure.update_layout(**layout)


def canvases(height: int, titles: tuple[str, ...], columns: int, **subplots) -> go.Figure:
    """Small multiples in one figure, which draw faster than as many charts; `subplots` go to `make_subplots`."""
    rows = -(-len(titles) // columns)
    figure = make_subplots(rows, columns, subplot_titles=titles, **subplots)
    # Titles of subplots are annotations that bring their own size.
    figure.update_annotations(font_size=12)
    return figure.update_layout(**_common(height)).update_layout(margin_t=40)


def _common(height: int) -> dict:
    """Template "none" keeps the figure small: the page, not the figure, knows the theme."""
    return {
        "template": "none",
        "height": height,
        "margin": {"l": 56, "r": 12, "t": 28, "b": 44, "pad": 2},
        "colorway": SERIES,
        "legend": {"orientation": "h", "x": 0, "y": 1.0, "xanchor": "left", "yanchor": "bottom", "font": {"size": 12}},
        "hovermode": "closest",
    }
