"""Algorithm 1 at work: what it keeps, how well that predicts, what each synthetic gradient is made of."""

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from dntk_core.base.numbering import number
from dntk_core.dashboard.drawing import literal
from dntk_core.dashboard.drawing.metrics import METRICS, Metric, interval, is_share, of
from dntk_core.dashboard.drawing.palette import BLUE, FULL, GAP, GREEN, GREY, LOCAL, REMOVED, VERMILION
from dntk_core.dashboard.figures.canvas import empty, figure, on, panels, tick_format
from dntk_core.dashboard.figures.tiles import SQUARE, Faces, drawn
from dntk_core.distill import Mixing, Origin
from dntk_core.readout.scores import Scores

TILES = 8
# Classes that are named along an axis.
TICKS = 20


def outcome(mixing: Mixing, scores: Scores, full: Scores, network: float, t: int) -> go.Figure:
    """How many gradients came from where, and the scores they reach beside the full kernel's.

    network: the network's own test accuracy, on t test inputs
    """
    s, m = mixing.matrix.shape
    parts = [(kind, count, GREEN) for kind, count in mixing.counts.items()]
    if mixing.counts.keys() <= {"local", "gap"}:
        found = mixing.counts["local"], mixing.counts["gap"], mixing.removed
        parts = list(zip(("local", "gap", "removed"), found, (LOCAL, GAP, REMOVED), strict=True))
    counts = [
        {
            "type": "bar",
            "name": kind,
            "x": [kind],
            "y": [count],
            "text": [f"{count}"],
            "textposition": "outside",
            "cliponaxis": False,
            "marker": {"color": colour},
            "meta": {"x": "kind", "y": "count"},
            "hovertemplate": f"{kind}: %{{y}} gradients<extra></extra>",
        }
        for kind, count, colour in parts
    ]
    rows = {name: {f"s = {s}": of(scores, name), f"m = {m}": of(full, name)} for name in METRICS}
    rows["accuracy"]["network"] = network
    bars = [
        {
            "type": "bar",
            "name": METRICS[name].title,
            "x": list(row),
            "y": list(row.values()),
            "text": [_said(METRICS[name], value, t) for value in row.values()],
            "textposition": "outside",
            "constraintext": "none",
            "cliponaxis": False,
            "marker": {"color": [BLUE, FULL, GREY][: len(row)], "opacity": [1, 1, 0.5][: len(row)]},
            "meta": {"x": "of", "y": "score"},
            "hovertemplate": f"{METRICS[name].title}, %{{x}}: %{{y:.4g}}<extra></extra>",
            **on(i),
        }
        for i, (name, row) in enumerate(rows.items(), start=1)
    ]
    top = max([1, *(count for _, count, _ in parts)])
    y = [{"range": [0, 1.18 * top], "nticks": 4}]
    for name, row in rows.items():
        highest = 1 if is_share(METRICS[name]) else max(row.values())
        y.append(tick_format(METRICS[name]) | {"range": [0, 1.3 * highest or 1], "nticks": 4})
    x = [{"type": "category", "showgrid": False}] * len(y)
    titles = [f"Gradients: {s} of {m} ({m / max(s, 1):.3g}×)", *(METRICS[name].title for name in rows)]
    # An interval needs as much room below each score.
    widths = [2, *(len(row) for row in rows.values())]
    layout = panels(titles, len(y), x, y, gap=(0.06, 0), widths=widths)
    margin = {"l": 40, "t": 30, "b": 28}
    return figure(counts + bars, height=250, min_width=720, showlegend=False, bargap=0.35, margin=margin, **layout)


def _said(metric: Metric, value: float, t: int) -> str:
    """A score above its bar, its interval in small below it."""
    found = interval(metric, value, t)
    return format(value, metric.format) + (f"<br><span style='font-size:10px'>{found}</span>" if found else "")


def gallery(
    mixing: Mixing,
    targets: np.ndarray,
    faces: Faces,
    labels: np.ndarray,
    class_names: Sequence[str],
    shown: Sequence[int],
) -> go.Figure:
    """Some rows of a mixing: the inputs that weigh most, with signs, and the soft label.

    targets: (m, C), faces: of the m inputs, labels: (m,)
    """
    if not len(shown):
        return empty("No gradient is left at these settings.")
    A = mixing.matrix[list(shown)]
    heavy = np.argsort(-np.abs(A), axis=1, kind="stable")[:, :TILES]
    weights = np.take_along_axis(A, heavy, axis=1)
    soft = A @ targets
    names = [literal.plotly(name) for name in class_names]
    lines, tiles = np.indices(heavy.shape)
    written = {
        "type": "scatter",
        "name": "weight",
        "mode": "markers+text",
        "x": tiles.ravel(),
        "y": lines.ravel() + 0.45,
        "text": [f"{w:+.2f}" if w else "" for w in weights.ravel()],
        "textposition": "middle center",
        "textfont": {"size": 11},
        "marker": {"size": 1, "opacity": 0},
        "hoverinfo": "skip",
    }
    touch = {
        "type": "scatter",
        "name": "weight",
        "mode": "markers",
        "x": tiles.ravel(),
        "y": lines.ravel(),
        "customdata": [
            [number(int(i)), names[labels[i]], float(w)] for i, w in zip(heavy.ravel(), weights.ravel(), strict=True)
        ],
        "meta": {"x": "place", "y": "row", "columns": ["input", "class", "weight"]},
        "marker": {"size": 40, "opacity": 0, "symbol": "square"},
        "hovertemplate": "input %{customdata[0]} (%{customdata[1]}): weight %{customdata[2]:+.4f}<extra></extra>",
    }
    pictures, words = drawn(faces, heavy, weights)
    ticks = {"tickmode": "array", "tickvals": list(range(len(shown)))}
    kinds = [_named(i, mixing.origin[i]) for i in shown]
    range_ = {"range": [len(shown) - 0.4, -0.55], "showgrid": False, "zeroline": False}
    classes = class_ticks(class_names)
    across = {"visible": False, "range": [-0.5, heavy.shape[1] - 0.5], **SQUARE}
    x = [across, classes | {"showgrid": False, "zeroline": False}]
    y = [range_ | ticks | {"ticktext": kinds}, range_ | {"matches": "y", "visible": False}]
    titles = ["Inputs that weigh most, with their weights", "Soft label"]
    layout = panels(titles, 2, x, y, gap=(0.03, 0), widths=[2, 1])
    return figure(
        [*words, touch, written, _soft_labels(soft, names), *_strongest(soft, names)],
        height=56 + 76 * len(shown),
        min_width=940,
        images=pictures,
        showlegend=False,
        margin={"l": 96, "t": 30, "b": 28},
        **layout,
    )


def _soft_labels(soft: np.ndarray, names: Sequence[str]) -> dict:
    """One bar per row and class around each row's own zero line, each row scaled to its largest entry."""
    scale = np.maximum(np.abs(soft).max(axis=1, keepdims=True), np.finfo(float).tiny)
    rows, classes = np.indices(soft.shape)
    return {
        "type": "bar",
        "name": "soft label",
        "x": classes.ravel(),
        # The axis points down.
        "y": -0.42 * (soft / scale).ravel(),
        "base": rows.ravel(),
        "customdata": [
            [names[c], float(soft[i, c]), i]
            for i, c in zip(rows.ravel().tolist(), classes.ravel().tolist(), strict=True)
        ],
        "meta": {"x": "class number", "y": "height", "columns": ["class", "soft label", "row"]},
        "hovertemplate": "%{customdata[0]}: %{customdata[1]:+.3g}<extra></extra>",
        "marker": {"color": np.where(soft.ravel() > 0, BLUE, VERMILION).tolist()},
        **on(1),
    }


def _strongest(soft: np.ndarray, names: Sequence[str]) -> list[dict]:
    """Above each row the class of its largest entry, where there are too many classes to name them along the axis."""
    if len(names) <= TICKS:
        return []
    most = soft.argmax(axis=1)
    return [
        {
            "type": "scatter",
            "mode": "text",
            "name": "strongest class",
            "x": most,
            "y": np.arange(len(soft)) - 0.4,
            "text": [names[c] for c in most],
            "textposition": ["middle right" if c < len(names) / 2 else "middle left" for c in most],
            "textfont": {"size": 11},
            "hoverinfo": "skip",
            "meta": {"x": "class number", "y": "height"},
            **on(1),
        }
    ]


def _named(place: int, origin: Origin) -> str:
    """What a row is, in two short lines."""
    what = {
        "local": f"cluster {number(origin.cluster or 0)}, no. {number(origin.index)}",
        "centroid": f"cluster {number(origin.cluster or 0)}",
        "selected": f"input {number(origin.index)}",
        "optimal": f"row {number(origin.index)}",
    }
    return f"<b>{number(place)}</b> {origin.kind}<br>{what.get(origin.kind, f'direction {number(origin.index)}')}"


def alternating(mixing: Mixing) -> list[int]:
    """All rows, kinds taking turns: a few of each are seen first, however many there are of one."""
    kinds = [origin.kind for origin in mixing.origin]
    turn = {kind: 0 for kind in kinds}
    places = []
    for kind in kinds:
        places.append(turn[kind])
        turn[kind] += 1
    return sorted(range(mixing.size), key=lambda row: (places[row], row))


def class_ticks(names: Sequence[str]) -> dict:
    """Names of classes along a narrow axis; of many, every n-th by its number."""
    if len(names) <= TICKS:
        return {"tickmode": "array", "tickvals": list(range(len(names))), "ticktext": short(names)}
    some = list(range(0, len(names), -(-len(names) // TICKS)))
    return {"tickmode": "array", "tickvals": some, "ticktext": [str(c) for c in some]}


def short(names: Sequence[str], limit: int = 6) -> list[str]:
    """Names cut to fit beside a tick."""
    return [literal.plotly(name if len(name) <= limit else name[: limit - 1] + "…") for name in names]
