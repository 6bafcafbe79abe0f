"""Property (A): local variance lies in the global eigenspace."""

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from dntk_core.dashboard.drawing.palette import BLUE, GREY, ORANGE, SEQUENTIAL, VERMILION, faded
from dntk_core.dashboard.figures.canvas import PERCENT, between, colorbar, figure, on, panels
from dntk_core.kernels.structure import Containment

DIRECTION = "global direction r"


def containment(result: Containment, rank: int, random: Sequence[Containment] = ()) -> go.Figure:
    """Share of local variance inside the first r global directions, above the directions each cluster uses.

    Both panels share the axis of global directions; `rank` is the one looked at. Grey is where no cluster has more
    inputs than r, so that it must hold everything. random: the same for clusters of the same sizes drawn at random
    """
    r = np.arange(1, result.global_rank + 1)
    band = {"type": "scatter", "mode": "lines", "x": r, "line": {"color": BLUE, "width": 1}, "meta": {"x": DIRECTION}}
    share = "%{y:.1%} at r = %{x}"
    curves = [
        band | {"name": "minimum", "y": result.minimum, "hovertemplate": f"worst cluster: {share}<extra></extra>"},
        band
        | {
            "name": "maximum",
            "y": result.maximum,
            "fill": "tonexty",
            "fillcolor": faded(BLUE, 0.18),
            "hovertemplate": f"best cluster: {share}<extra></extra>",
        },
        band
        | {
            "name": "mean over clusters",
            "y": result.mean,
            "line": {"color": BLUE, "width": 3},
            "hovertemplate": f"mean: {share}<extra></extra>",
        },
    ]
    if random:
        curves += _null(r, random)
    heat = {
        "type": "heatmap",
        "name": "variance share",
        "x": r,
        "y": [f"cluster {h + 1}" for h in range(len(result.table))],
        "z": result.table,
        "zmin": 0,
        "colorscale": SEQUENTIAL,
        "colorbar": colorbar("share", len=0.5, y=0, yanchor="bottom", tickformat=PERCENT),
        "customdata": np.repeat(result.local_ranks[:, None, None], len(r), axis=1),
        "meta": {"x": DIRECTION, "y": "cluster", "z": "share of the cluster's variance", "columns": ["local rank"]},
        "hovertemplate": "%{y} (local rank %{customdata[0]}), direction %{x}: %{z:.2%}<extra></extra>",
        **on(1),
    }
    titles = ["Local variance inside the first r global directions", "Variance of each cluster along each direction"]
    # No fixed range: a zoom then survives a change of the data.
    x = [{"matches": "x2", "showticklabels": False}, {"title": DIRECTION}]
    floor = max(0.0, min(float(each.min()) for each in (result.minimum, *(drawn.mean for drawn in random))) - 0.05)
    H = len(result.table)
    y = [
        {"title": "variance contained", "tickformat": PERCENT, "range": [floor, 1.02]},
        {"type": "category", "range": [H - 0.5, -0.5]},
    ]
    rows = min(240, 60 + 16 * H)
    layout = panels(titles, 1, x, y, gap=(0, 0.13), heights=[210, rows])
    layout["annotations"].append(_label(result.global_rank, "truncation rank", "right"))
    shapes = [_mark(result.global_rank, GREY), *_untestable(result)]
    if len(shapes) > 1:
        end = {"x": result.global_rank, "xanchor": "right", "y": 0.5, "yref": "y domain", "showarrow": False}
        layout["annotations"].append(end | {"text": "not testable here", "textangle": -90, "font": {"size": 12}})
    if rank < result.global_rank:
        # Above the other label, and on the side where there is room.
        side = "left" if 2 * rank < result.global_rank else "right"
        layout["annotations"].append(_label(rank, "rank", side) | {"yshift": 16})
        shapes.append(_mark(rank, VERMILION))
    margin = {"l": 64, "t": 40}
    return figure(
        [*curves, heat, _sizes(result, 0.8 * rows / H)], height=130 + 210 + rows, shapes=shapes, margin=margin, **layout
    )


def _null(r: np.ndarray, random: Sequence[Containment]) -> list[dict]:
    """Between the least and the most that the mean over clusters is for random ones."""
    means = np.array([each.mean for each in random])
    ends = {"least": means.min(axis=0), "most": means.max(axis=0)}
    return between(r, ends, "mean over random clusters", ORANGE, {"x": DIRECTION}, "%{y:.1%} at r = %{x}")


def _untestable(result: Containment) -> list[dict]:
    """A grey ground from the rank on at which no cluster is testable."""
    first = int(result.sizes.max())
    if first > result.global_rank:
        return []
    ground = {"fillcolor": faded(GREY, 0.25), "line": {"width": 0}, "layer": "below"}
    ends = {"x0": first - 0.5, "x1": result.global_rank + 0.5, "yref": "y domain", "y0": 0, "y1": 1}
    return [{"type": "rect"} | ends | ground]


def _sizes(result: Containment, height: float) -> dict:
    """A stroke, `height` pixels high, at the rank from which on each cluster must hold everything."""
    shown = np.flatnonzero(result.sizes <= result.global_rank)
    return {
        "type": "scatter",
        "mode": "markers",
        "name": "cluster's size",
        "x": result.sizes[shown],
        "y": [f"cluster {h + 1}" for h in shown],
        "meta": {"x": "inputs in the cluster", "y": "cluster"},
        "marker": {"symbol": "line-ns", "size": height / 2, "line": {"width": 2, "color": VERMILION}},
        "hovertemplate": "%{y} has %{x} inputs: from rank %{x} on 100% is arithmetic<extra></extra>",
        **on(1),
    }


def _mark(rank: int, colour: str) -> dict:
    """A vertical line at a rank, through the upper panel."""
    line = {"color": colour, "width": 1.5, "dash": "dash"}
    return {"type": "line", "x0": rank, "x1": rank, "yref": "y domain", "y0": 0, "y1": 1, "line": line}


def _label(rank: int, name: str, side: str) -> dict:
    place = {"x": rank, "y": 0.02, "yref": "y domain", "yanchor": "bottom", "xanchor": side}
    place["xshift"] = -4 if side == "right" else 4
    return place | {"text": f"{name} {rank}", "showarrow": False, "font": {"size": 12}}
