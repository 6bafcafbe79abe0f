"""Grid search of Algorithm 1: every setting at a glance, and which of them no other beats."""

import numpy as np
import plotly.graph_objects as go

from dntk_core.dashboard.drawing.metrics import METRICS, of, words
from dntk_core.dashboard.drawing.palette import GAP, GREEN, LOCAL, SEQUENTIAL, VERMILION, faded, series
from dntk_core.dashboard.figures.canvas import colorbar, figure, log_axis, measure_axis, on, panels, tick_format
from dntk_core.readout.grid import Grid

SYMBOLS = ("circle", "diamond", "square", "triangle-up", "cross", "x", "star")
COLUMNS, PAIR = 4, 2
SETTING = ["H", "tau_v", "tau_g", "s", "local", "gap", "removed"]


def heatmaps(
    grid: Grid, metric: str, here: tuple[int, float, float], answer: tuple[int, int, int] | None = None
) -> go.Figure:
    """One (τ_v, τ_g) heatmap per H, Pareto settings boxed; a cross is where the sliders stand, H, τ_v and τ_g.

    answer: a cell to point out. A point's customdata starts with H, τ_v, τ_g, so that a click can open it.
    """
    values, table, best = of(grid, metric), _table(grid), _front(grid, metric)
    traces = [
        {
            "type": "heatmap",
            "name": f"H = {H}",
            "z": values[i],
            "coloraxis": "coloraxis",
            "xgap": 1,
            "ygap": 1,
            "customdata": table[i],
            "meta": {"x": "column", "y": "row", "columns": _columns()},
            "hovertemplate": _hover(),
            **on(i),
        }
        for i, H in enumerate(grid.H)
    ]
    traces += [_boxes(best[i]) | on(i) for i in range(len(grid.H)) if best[i].any()]
    x = [_cells(grid.tau_g) | {"title": "τ<sub>g</sub>", "showgrid": False, "zeroline": False} for _ in grid.H]
    y = [_cells(grid.tau_v) | {"title": "τ<sub>v</sub>" if i % COLUMNS == 0 else "", "showgrid": False,
                               "zeroline": False, "showticklabels": i % COLUMNS == 0}
         for i in range(len(grid.H))]  # fmt: skip
    rows = -(-len(grid.H) // COLUMNS)
    layout = panels([f"H = {H}" for H in grid.H], min(COLUMNS, len(grid.H)), x, y, gap=(0.03, 0.3 / rows))
    if answer:
        only = np.zeros(best.shape, bool)
        only[answer] = True
        pointed = _boxes(only[answer[0]]) | {"name": "objective", "line": {"color": GREEN, "width": 5}}
        traces.append(pointed | on(answer[0]))
    for i in np.flatnonzero(grid.H == here[0]).tolist():
        at = {"x": _between(grid.tau_g, here[2]), "y": _between(grid.tau_v, here[1])}
        cross = at | {"xref": on(i)["xaxis"], "yref": on(i)["yaxis"], "text": "<b>×</b>", "showarrow": False}
        layout["annotations"].append(cross | {"font": {"size": 20, "color": VERMILION}})
    shown = METRICS[metric]
    axis = {
        "colorscale": SEQUENTIAL,
        "reversescale": not shown.higher,
        "colorbar": colorbar(words(shown), **tick_format(shown)),
    }
    return figure(
        traces, height=40 + 270 * rows, min_width=680, showlegend=False, coloraxis=axis, margin={"l": 52}, **layout
    )


def counts(grid: Grid, metric: str) -> go.Figure:
    """Local and gap gradients of every setting, stacked, per H; Pareto settings in full colour."""
    table, best = _table(grid), _front(grid, metric)
    b, g = len(grid.tau_v), len(grid.tau_g)
    traces = [
        {
            "type": "bar",
            "name": kind,
            "legendgroup": kind,
            "showlegend": i == 0,
            "x": np.arange(b * g),
            "y": getattr(grid, kind)[i].ravel(),
            "marker": {"color": [colour if on_front else faded(colour, 0.45) for on_front in best[i].ravel()]},
            "customdata": table[i].reshape(b * g, -1),
            "meta": {"x": "place", "y": "count", "columns": _columns()},
            "hovertemplate": _hover(),
            **on(i),
        }
        for i in range(len(grid.H))
        for kind, colour in (("local", LOCAL), ("gap", GAP))
    ]
    ticks = _ticks(grid.tau_v)
    ticks["tickvals"] = [g * (v + 0.5) - 0.5 for v in ticks["tickvals"]]
    below = len(grid.H) - PAIR
    x = [ticks | {"title": "τ<sub>v</sub>, within it τ<sub>g</sub>" if i >= below else "", "showgrid": False}
         for i in range(len(grid.H))]  # fmt: skip
    top = 1.04 * max(1, int(grid.s.max()))
    y = [{"title": "gradients s" if i % PAIR == 0 else "", "range": [0, top], "showticklabels": i % PAIR == 0}
         for i in range(len(grid.H))]  # fmt: skip
    layout = panels([f"H = {H}" for H in grid.H], min(PAIR, len(grid.H)), x, y, gap=(0.04, 0.16))
    return figure(traces, height=400, barmode="stack", bargap=0, margin={"l": 52}, **layout)


def frontier(grid: Grid, metric: str, here: tuple[int, float], answer: tuple[int, int, int] | None = None) -> go.Figure:
    """Every setting by its number of gradients and its score, with the Pareto frontier drawn through the best.

    here: what the sliders give, gradients and score; answer: a cell to point out
    """
    values, table, best = of(grid, metric), _table(grid), _front(grid, metric)
    dots = [
        {
            "type": "scatter",
            "mode": "markers",
            "name": f"H = {H}",
            "x": grid.s[i].ravel(),
            "y": values[i].ravel(),
            "marker": {"color": series(i), "symbol": SYMBOLS[i % len(SYMBOLS)], "size": 7, "opacity": 0.55},
            "customdata": table[i].reshape(-1, table.shape[-1]),
            "meta": {"columns": _columns()},
            "hovertemplate": _hover(),
        }
        for i, H in enumerate(grid.H)
    ]
    s, value, cells = grid.s[best], values[best], table[best]
    order = np.argsort(s, kind="stable")
    line = {
        "type": "scatter",
        "mode": "lines+markers",
        "name": "Pareto frontier",
        "x": s[order],
        "y": value[order],
        "line": {"color": VERMILION, "width": 2, "shape": "hv"},
        "marker": {"size": 11, "symbol": "circle-open", "line": {"width": 2}},
        "customdata": cells[order],
        "meta": {"columns": _columns()},
        "hovertemplate": _hover(),
    }
    marks = {"sliders": (here, {"color": VERMILION, "size": 13, "symbol": "x-thin"}, VERMILION)}
    if answer:
        place = int(grid.s[answer]), float(values[answer])
        marks["objective"] = (place, {"color": "rgba(0,0,0,0)", "size": 20, "symbol": "circle"}, GREEN)
    for name, (place, marker, colour) in marks.items():
        at = {"x": [place[0]], "y": [place[1]], "hoverinfo": "skip"}
        ring = marker | {"line": {"width": 3, "color": colour}}
        dots.append({"type": "scatter", "mode": "markers", "name": name, "marker": ring} | at)
    y = {"title": words(METRICS[metric])} | measure_axis(METRICS[metric], values)
    return figure([*dots, line], height=400, xaxis=log_axis(grid.s) | {"title": "gradients s"}, yaxis=y)


def _columns() -> list[str]:
    """What a point's customdata holds."""
    return [*SETTING, *METRICS]


def _hover() -> str:
    """A point's setting and scores in words."""
    scores = enumerate(METRICS.values(), start=len(SETTING))
    lines = [
        "H = %{customdata[0]}, τ<sub>v</sub> = %{customdata[1]:~g}, τ<sub>g</sub> = %{customdata[2]:~g}",
        "s = %{customdata[3]}: %{customdata[4]} local + %{customdata[5]} gap, %{customdata[6]} removed",
        ", ".join(f"{words(metric)} %{{customdata[{i}]:{metric.format}}}" for i, metric in scores),
        "<i>click to open it</i><extra></extra>",
    ]
    return "<br>".join(lines)


def _table(grid: Grid) -> np.ndarray:
    """Every setting in full, (a, b, g, columns): what _columns() says."""
    axes = np.meshgrid(grid.H, grid.tau_v, grid.tau_g, indexing="ij")
    scores = (of(grid, name) for name in METRICS)
    return np.stack([*axes, grid.s, grid.local, grid.gap, grid.removed, *scores], axis=-1).astype(float)


def _front(grid: Grid, metric: str) -> np.ndarray:
    """Mark the Pareto-optimal cells, of those alike one: (a, b, g) bool."""
    marked = np.zeros(grid.s.shape, bool)
    for cell in grid.frontier(metric):
        marked[cell] = True
    return marked


def _between(axis: np.ndarray, value: float) -> float:
    """Where a value lies among the cells of an axis, at its ends if beyond them."""
    return float(np.interp(value, axis, np.arange(len(axis))))


def _ticks(values: np.ndarray) -> dict:
    step = -(-len(values) // 5)
    places = list(range(0, len(values), step))
    return {"tickmode": "array", "tickvals": places, "ticktext": [f"{values[i]:g}" for i in places]}


def _cells(values: np.ndarray) -> dict:
    """An axis of cells: frames drawn at its ends would widen it, and rows of two panels would not meet."""
    return _ticks(values) | {"range": [-0.5, len(values) - 0.5]}


def _boxes(marked: np.ndarray) -> dict:
    """A frame around every marked cell (b, g): one trace, which draws faster than as many shapes."""
    x, y = [], []
    for row, column in np.argwhere(marked):
        x += [column - 0.46, column + 0.46, column + 0.46, column - 0.46, column - 0.46, None]
        y += [row - 0.46, row - 0.46, row + 0.46, row + 0.46, row - 0.46, None]
    line = {"color": VERMILION, "width": 2.5}
    return {"type": "scatter", "mode": "lines", "name": "Pareto", "x": x, "y": y, "line": line, "hoverinfo": "skip"}
