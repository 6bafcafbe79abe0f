"""Algorithm 1 at work: what it keeps, how well that predicts, what each synthetic gradient is made of."""

import base64
from collections.abc import Sequence
from io import BytesIO

import numpy as np
import plotly.graph_objects as go
from PIL import Image

from dntk_core.dashboard import literal
from dntk_core.dashboard.figures.canvas import empty, figure, on, panels, tick_format
from dntk_core.dashboard.metrics import METRICS, Metric, interval, is_share, of
from dntk_core.dashboard.palette import BLUE, FULL, GAP, GREEN, GREY, LOCAL, REMOVED, VERMILION
from dntk_core.data.images import ImageArray
from dntk_core.distill import Mixing, Origin
from dntk_core.readout.scores import Scores

TILES = 8
# Pixels of a tile's longer side, whatever its image has.
TILE = 64


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
    images: np.ndarray | ImageArray,
    labels: np.ndarray,
    class_names: Sequence[str],
    first: int,
    count: int,
) -> go.Figure:
    """Rows first … first + count of a mixing: the inputs that weigh most, with signs, and the soft label.

    targets: (m, C), images: (m, channels, height, width) in [0, 1], labels: (m,)
    """
    shown = range(first, min(first + count, mixing.size))
    if not len(shown):
        return empty("No gradient is left at these settings.")
    A = mixing.matrix[shown.start : shown.stop]
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
            [int(i), names[labels[i]], float(w)] for i, w in zip(heavy.ravel(), weights.ravel(), strict=True)
        ],
        "meta": {"x": "place", "y": "row", "columns": ["input", "class", "weight"]},
        "marker": {"size": 40, "opacity": 0, "symbol": "square"},
        "hovertemplate": "input %{customdata[0]} (%{customdata[1]}): weight %{customdata[2]:+.4f}<extra></extra>",
    }
    picture = {
        "source": sheet(images, heavy, weights),
        "xref": "x", "yref": "y", "x": -0.5, "y": -0.5, "sizex": heavy.shape[1], "sizey": len(shown),
        "xanchor": "left", "yanchor": "top", "sizing": "stretch", "layer": "below",
    }  # fmt: skip
    ticks = {"tickmode": "array", "tickvals": list(range(len(shown)))}
    kinds = [_named(i, mixing.origin[i]) for i in shown]
    range_ = {"range": [len(shown) - 0.4, -0.55], "showgrid": False, "zeroline": False}
    classes = {"tickmode": "array", "tickvals": list(range(len(class_names))), "ticktext": short(class_names)}
    x = [{"visible": False, "range": [-0.5, heavy.shape[1] - 0.5]}, classes | {"showgrid": False, "zeroline": False}]
    y = [range_ | ticks | {"ticktext": kinds}, range_ | {"matches": "y", "visible": False}]
    titles = ["Inputs that weigh most, with their weights", "Soft label"]
    layout = panels(titles, 2, x, y, gap=(0.03, 0), widths=[2, 1])
    return figure(
        [touch, written, _soft_labels(soft, names)],
        height=56 + 76 * len(shown),
        min_width=680,
        images=[picture],
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
        "meta": {"x": "class number", "y": "height", "columns": ["class", "value", "row"]},
        "hovertemplate": "%{customdata[0]}: %{customdata[1]:+.3g}<extra></extra>",
        "marker": {"color": np.where(soft.ravel() > 0, BLUE, VERMILION).tolist()},
        **on(1),
    }


def _named(place: int, origin: Origin) -> str:
    """What a row is, in two short lines."""
    what = {
        "local": f"cluster {(origin.cluster or 0) + 1}, no. {origin.index + 1}",
        "centroid": f"cluster {(origin.cluster or 0) + 1}",
        "selected": f"input {origin.index}",
        "optimal": f"row {origin.index + 1}",
    }
    return f"<b>{place + 1}</b> {origin.kind}<br>{what.get(origin.kind, f'direction {origin.index + 1}')}"


def short(names: Sequence[str], limit: int = 6) -> list[str]:
    """Names cut to fit beside a tick."""
    return [literal.plotly(name if len(name) <= limit else name[: limit - 1] + "…") for name in names]


def sheet(images: np.ndarray | ImageArray, heavy: np.ndarray, weights: np.ndarray) -> str:
    """One picture of all tiles, framed by the colour of their sign, as a data address."""
    rows, columns = heavy.shape
    height, width = images.shape[2:]
    # Room between tiles and, below each, for its weight, in proportion to them.
    side_y, side_x = (max(1, round(side * TILE / max(height, width))) for side in (height, width))
    pad, below = max(2, side_x // 8), max(4, side_y // 3)
    sheet = np.zeros((rows * (side_y + pad + below), columns * (side_x + 2 * pad), 4), np.uint8)
    frame = max(1, side_x // 24)
    for i in range(rows):
        for j in range(columns):
            if weights[i, j] == 0:
                continue
            tile = _tile(images[heavy[i, j]], side_y, side_x)
            top, left = i * (side_y + pad + below) + pad, j * (side_x + 2 * pad) + pad
            sign = BLUE if weights[i, j] > 0 else VERMILION
            edge = [int(sign[k : k + 2], 16) for k in (1, 3, 5)]
            sheet[top - frame : top + side_y + frame, left - frame : left + side_x + frame] = [*edge, 255]
            sheet[top : top + side_y, left : left + side_x, :3] = tile
    buffer = BytesIO()
    Image.fromarray(sheet).save(buffer, "PNG", compress_level=1)
    return f"data:image/png;base64,{base64.b64encode(buffer.getvalue()).decode()}"


def _tile(image: np.ndarray, height: int, width: int) -> np.ndarray:
    """An image (channels, …) in [0, 1] as (height, width, 3) bytes; pixels are repeated or averaged."""
    pixels = np.broadcast_to((255 * np.clip(image, 0, 1)).round().astype(np.uint8), (3, *image.shape[1:]))
    kept = Image.Resampling.NEAREST if height > image.shape[1] else Image.Resampling.BOX
    return np.asarray(Image.fromarray(np.ascontiguousarray(pixels.transpose(1, 2, 0))).resize((width, height), kept))
