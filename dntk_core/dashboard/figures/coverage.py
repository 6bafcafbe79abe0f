"""Property (B): global directions that the local eigenspaces do not cover."""

from collections.abc import Mapping, Sequence

import numpy as np
import plotly.graph_objects as go

from dntk_core.dashboard.drawing import literal
from dntk_core.dashboard.drawing.palette import BLUE, GAP, GREY, PURPLE, VERMILION, faded
from dntk_core.dashboard.figures.canvas import PERCENT, between, figure, on, panels
from dntk_core.kernels.structure import Coverage

MULTIPLES = 20
COLUMNS = 5
# One cluster is asked only for the part of a direction that lies on its inputs.
OWN = ", of its own part"


def coverage(result: Coverage, tau_g: float, rule: str, random: Sequence[Coverage] = ()) -> go.Figure:
    """How well clusters hold each global direction; the uncovered share shaded, gaps under τ_g marked.

    random: the same for clusters of the same sizes drawn at random
    """
    j = np.arange(1, len(result.union) + 1)
    judged = result.maximum if rule == "ratio" else result.union
    gaps = judged < tau_g
    marks = {
        "type": "scatter",
        "mode": "markers",
        "name": f"gap: below τ<sub>g</sub> = {tau_g:g}",
        "x": j[gaps],
        "y": judged[gaps],
        "marker": {"color": GAP, "size": 10, "symbol": "diamond", "line": {"color": "white", "width": 1}},
        "hovertemplate": "direction %{x} is a gap: %{y:.1%}<extra></extra>",
    }
    return figure(
        [*_shaded(j, result.union), *_null(j, random), *_alignments(j, result), marks],
        height=400,
        shapes=[_threshold(tau_g)],
        margin={"l": 64},
        xaxis={"title": "global direction j"},
        yaxis={"title": "share of the direction held", "tickformat": PERCENT, "range": [0, 1.04]},
    )


def least_covered(results: Mapping[str, Coverage]) -> list[str]:
    """The kernels shown in small, in their own order."""
    names = sorted(results, key=lambda name: -results[name].uncovered)[:MULTIPLES]
    return [name for name in results if name in names]


def coverage_multiples(results: Mapping[str, Coverage], tau_g: float) -> go.Figure:
    """The same for every class kernel, in small; of more than 20 classes, those least covered."""
    names = least_covered(results)
    shown = {name: literal.plotly(name) for name in names}
    traces = []
    for i, name in enumerate(names):
        result = results[name]
        j = np.arange(1, len(result.union) + 1)
        only = {"showlegend": i == 0, **on(i)}
        traces += [
            trace
            | only
            | {"meta": {"series": f"{shown[name]}, {trace['name']}", "x": "global direction j", "y": "share held"}}
            for trace in [*_shaded(j, result.union), *_alignments(j, result)]
        ]
    widest = max(len(results[name].union) for name in names)
    rows = -(-len(names) // COLUMNS)
    x = [{"range": [0.5, widest + 0.5], "nticks": 4, "showticklabels": i + COLUMNS >= len(names)}
         for i in range(len(names))]  # fmt: skip
    y = [{"range": [0, 1.04], "tickformat": PERCENT, "nticks": 3, "showticklabels": i % COLUMNS == 0}
         for i in range(len(names))]  # fmt: skip
    titles = [_title(shown[name], results[name]) for name in names]
    shapes = [_threshold(tau_g) | {"xref": f"{on(i)['xaxis']} domain", "yref": on(i)["yaxis"]}
              for i in range(len(names))]  # fmt: skip
    return figure(
        traces,
        height=100 + 192 * rows,
        min_width=720,
        shapes=shapes,
        margin={"l": 44, "r": 8, "t": 60, "b": 28},
        **panels(titles, COLUMNS, x, y, gap=(0.02, 0.34 / rows)),
    )


def _shaded(j: np.ndarray, union: np.ndarray) -> list[dict]:
    """What all clusters together hold, and above it the share that none of them does."""
    line = {"type": "scatter", "mode": "lines", "x": j}
    held = line | {
        "name": "all clusters together",
        "legendgroup": "union",
        "y": union,
        "line": {"color": BLUE, "width": 2},
        "hovertemplate": "direction %{x}: together %{y:.1%}<extra></extra>",
    }
    missing = line | {
        "name": "uncovered",
        "legendgroup": "uncovered",
        "y": np.ones(len(j)),
        "line": {"width": 0},
        "fill": "tonexty",
        "fillcolor": faded(GAP, 0.3),
        "hoverinfo": "skip",
    }
    return [held, missing]


def _alignments(j: np.ndarray, result: Coverage) -> list[dict]:
    line = {"type": "scatter", "mode": "lines", "x": j}
    best = {"name": f"best cluster{OWN}", "legendgroup": "best", "y": result.maximum, "line": {"color": VERMILION}}
    dotted = {"color": PURPLE, "dash": "dot"}
    mean = {"name": f"mean cluster{OWN}", "legendgroup": "mean", "y": result.mean, "line": dotted}
    hover = "direction %{x}: %{y:.1%}<extra></extra>"
    return [line | best | {"hovertemplate": f"best, {hover}"}, line | mean | {"hovertemplate": f"mean, {hover}"}]


def _null(j: np.ndarray, random: Sequence[Coverage]) -> list[dict]:
    """Between the least and the most that the mean cluster holds where clusters are random."""
    if not random:
        return []
    held = np.array([each.mean for each in random])
    ends = {"least": held.min(axis=0), "most": held.max(axis=0)}
    return between(j, ends, f"mean random cluster{OWN}", PURPLE, {}, "%{y:.1%} of direction %{x}")


def _title(name: str, result: Coverage) -> str:
    measures = f"{result.uncovered:.1%} uncovered<br>{result.misaligned:.1%} misaligned"
    return f"<b>{name}</b><br><span style='font-size:11px'>{measures}</span>"


def _threshold(tau_g: float) -> dict:
    line = {"color": GREY, "width": 1.5, "dash": "dash"}
    return {"type": "line", "xref": "x domain", "x0": 0, "x1": 1, "y0": tau_g, "y1": tau_g, "line": line}
