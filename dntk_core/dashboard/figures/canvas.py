"""What every figure starts from: plain dicts."""

from typing import Any

import numpy as np
import plotly.graph_objects as go

from dntk_core.dashboard.drawing.metrics import Measure, is_share
from dntk_core.dashboard.drawing.palette import GREEN, SERIES, faded

POINTS = 1000
# As many digits as tell two ticks apart: 70%, 99.25%.
PERCENT = ".3~%"


def figure(traces: list[dict], height: int, margin: dict | None = None, min_width: int = 0, **layout) -> go.Figure:
    """A figure with tight margins and its legend on top; text and grid are left to the page's theme.

    min_width: pixels below which it is scrolled sideways rather than squeezed
    """
    # A legend is placed in units of the plot height, above panel titles if any; plotly makes room for its lines.
    room = {"l": 56, "r": 12, "t": 28, "b": 44, "pad": 2} | (margin or {})
    lines = [note["text"].count("<br>") for note in layout.get("annotations", ())]
    lift = (24 + 16 * max(lines) if lines else 4) / (height - room["t"] - room["b"])
    common = {
        # No template keeps the figure small: the page, not the figure, knows the theme.
        "template": {},
        "height": height,
        "meta": {"minWidth": min_width},
        "margin": room,
        "colorway": SERIES,
        "legend": {"orientation": "h", "x": 0, "y": 1 + lift, "yanchor": "bottom", "font": {"size": 12}},
        "hovermode": "closest",
    }
    axes = {name: axis | _title(axis) for name, axis in layout.items() if name[1:5] == "axis"}
    # Checking every value takes longer than all else that a slider move asks for; tests check them.
    return go.Figure({"data": traces, "layout": common | layout | axes}, _validate=False)


def panels(
    titles: list[str], columns: int, x: list[dict], y: list[dict], gap=(0.07, 0.14), widths=None, heights=None
) -> dict:
    """The layout of small multiples, row by row: axes x, y, x2, y2, …, each pair under its title.

    One figure with panels draws faster than as many charts. widths, heights: relative, per column and row.
    """
    rows = -(-len(titles) // columns)
    lefts, rights = _spread(widths or [1] * columns, gap[0])
    tops, bottoms = _spread(heights or [1] * rows, gap[1])
    layout: dict = {"annotations": []}
    for i, title in enumerate(titles):
        row, column = divmod(i, columns)
        suffix = _suffix(i)
        ends = [1 - bottoms[row], 1 - tops[row]]
        layout[f"xaxis{suffix}"] = {"domain": [lefts[column], rights[column]], "anchor": f"y{suffix}"} | x[i]
        layout[f"yaxis{suffix}"] = {"domain": ends, "anchor": f"x{suffix}"} | y[i]
        corner = {"x": lefts[column], "xanchor": "left", "y": ends[1], "yanchor": "bottom", "xref": "paper"}
        label = {"text": title, "align": "left", "showarrow": False, "yref": "paper", "yshift": 2, "font": {"size": 13}}
        layout["annotations"].append(corner | label)
    return layout


def on(panel: int) -> dict:
    """The axes of the panel counted from 0, for a trace."""
    return {"xaxis": f"x{_suffix(panel)}", "yaxis": f"y{_suffix(panel)}"}


def log_axis(*series: np.ndarray) -> dict:
    """A log axis for these values: ticks at 1, 2, 5 over a few decades, at powers of ten over many."""
    values = np.concatenate([np.ravel(each) for each in series])
    values = values[values > 0]
    decades = np.log10(values.max() / values.min()) if len(values) else 1.0
    if decades < 3:
        # A format makes plotly write numbers in full where it would write only their leading digit.
        return {"type": "log", "tickformat": "~g", "dtick": "D2"}
    return powers(int(-(-decades // 7)))


def powers(step: int = 1) -> dict:
    """A log axis with ticks at powers of ten, written as such; plotly makes these a quarter larger than it is told."""
    return {"type": "log", "exponentformat": "power", "dtick": step, "tickfont": {"size": 10}}


def ridge_axis(ridges: np.ndarray) -> dict:
    """A log axis with ridges written as the slider has them."""
    return log_axis(ridges) | {"exponentformat": "e", "tickfont": {}}


def measure_axis(measure: Measure, *series: np.ndarray) -> dict:
    """The axis on which these values of a score or another measure are drawn."""
    return log_axis(*series) if measure.log else tick_format(measure)


def tick_format(measure: Measure) -> dict:
    """A measure's format on an axis, where ticks may be closer than its values are written."""
    return {"tickformat": PERCENT if is_share(measure) else f"{measure.format[:-1]}~{measure.format[-1]}"}


def colorbar(title: str, **more) -> dict:
    """A slim colour bar."""
    return {"title": {"text": title, "font": {"size": 13}}, "thickness": 10, "outlinewidth": 0, "xpad": 6} | more


def between(
    x: np.ndarray, ends: dict[str, np.ndarray], name: str, colour: str, meta: dict[str, str], hover: str
) -> list[dict]:
    """A band between two curves over x, by what each end is; both are read and downloaded as themselves.

    meta: how a table names its columns; hover: a point in words, after the band's name
    """
    low, high = (
        {
            "type": "scatter",
            "mode": "lines",
            "name": name,
            "legendgroup": name,
            "showlegend": False,
            "x": x,
            "y": y,
            "line": {"color": faded(colour, 0.7), "width": 1},
            "meta": meta | {"series": f"{name}, {end}"},
            "hovertemplate": f"{name}, {end}: {hover}<extra></extra>",
        }
        for end, y in ends.items()
    )
    return [low, high | {"showlegend": True, "fill": "tonexty", "fillcolor": faded(colour, 0.3)}]


def thin(length: int) -> np.ndarray:
    """At most 1,000 evenly spread places of a series, its ends among them."""
    return np.unique(np.linspace(0, length - 1, min(length, POINTS)).round().astype(int))


def marked(drawn: go.Figure, *shapes: dict) -> go.Figure:
    """The figure with what was clicked framed in it: rectangles in data coordinates."""
    line = {"type": "rect", "xref": "x", "yref": "y", "line": {"color": GREEN, "width": 3}}
    layout: Any = drawn.layout
    layout.shapes += tuple(line | shape for shape in shapes)
    return drawn


def empty(message: str, height: int = 160) -> go.Figure:
    """A figure that says why there is nothing to show."""
    hidden = {"visible": False}
    note = {"text": message, "showarrow": False, "x": 0.5, "y": 0.5, "xref": "paper", "yref": "paper"}
    return figure([], height, xaxis=hidden, yaxis=hidden, annotations=[note])


def _title(axis: dict) -> dict:
    """A title as large as the ticks; plotly's own is a fifth larger."""
    return {"title": {"text": axis["title"], "font": {"size": 13}, "standoff": 8}} if "title" in axis else {}


def _suffix(panel: int) -> str:
    return str(panel + 1) if panel else ""


def _spread(sizes: list[float], gap: float) -> tuple[list[float], list[float]]:
    """Where intervals of relative `sizes` start and end in [0, 1], `gap` apart."""
    unit = (1 - gap * (len(sizes) - 1)) / sum(sizes)
    starts = [sum(sizes[:i]) * unit + gap * i for i in range(len(sizes))]
    return starts, [start + size * unit for start, size in zip(starts, sizes, strict=True)]
