"""Distilled images: what they look like, how they were made, where they lie, and what they capture."""

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from dntk_core.base.numbering import FIRST as NUMBERED
from dntk_core.base.numbering import number
from dntk_core.dashboard.drawing import literal
from dntk_core.dashboard.drawing.palette import GREY, SEQUENTIAL, SERIES, faded, series
from dntk_core.dashboard.figures.canvas import colorbar, empty, figure, log_axis, on, panels
from dntk_core.dashboard.figures.distillation import class_ticks, short
from dntk_core.dashboard.figures.tiles import HIGH, SQUARE, WIDE, sheet
from dntk_core.data.images import Images

TILES, REAL = 10, 4
# Pixels of a class's row.
ROW = 68
SYMBOLS = ("diamond", "square", "cross")
LOSSES = ("Feature loss", "Batch-norm loss")
# Classes that are drawn or named one by one.
NAMED = 20
MEAN = "mean of all classes"


def gallery(
    images: Images,
    labels: np.ndarray,
    weights: np.ndarray,
    soft: np.ndarray,
    names: Sequence[str],
    shown: range,
    real: tuple[Images, np.ndarray] | None = None,
) -> go.Figure:
    """The heaviest images of some classes, a row each, between real ones of the class and their soft labels.

    images: (m, channels, height, width) in [0, 1], labels: (m,), weights: (m,), soft: (m, C) probabilities
    shown: which classes; real: images and labels of real ones, if they are at hand
    """
    rows = [np.flatnonzero(labels == c) for c in shown]
    rows = [members[np.argsort(-weights[members], kind="stable")][:TILES] for members in rows]
    place = np.stack(rows)
    count, tiles = place.shape
    line, tile = np.indices(place.shape)
    pictures = [_picture(images, place, 0)]
    if real is not None:
        pictures.append(_picture(real[0], _first(real[1], shown), 2))
    written = {
        "type": "scatter",
        "name": "weight",
        "mode": "text",
        "x": tile.ravel(),
        "y": line.ravel() + 0.45,
        "text": [f"{weights[i]:.2f}" for i in place.ravel()],
        "textfont": {"size": 11},
        "hoverinfo": "skip",
    }
    touch = {
        "type": "scatter",
        "name": "image",
        "mode": "markers",
        "x": tile.ravel(),
        "y": line.ravel(),
        "marker": {"size": 40, "opacity": 0, "symbol": "square"},
        "customdata": [
            [number(int(p)), literal.plotly(names[int(shown[i])]), float(weights[p]), float(soft[p].max())]
            for (i, _), p in np.ndenumerate(place)
        ],
        "meta": {"x": "place", "y": "row", "columns": ["input", "class", "weight", "highest soft label"]},
        "hovertemplate": "input %{customdata[0]}: weight %{customdata[2]:.2f}, highest soft label "
        "%{customdata[3]:.1%}<extra></extra>",
    }
    # Each image is a thin strip of its class's row.
    strip = np.arange(count)[:, None] - 0.42 + 0.84 * (np.arange(tiles) + 0.5) / tiles
    labelled = {
        "type": "heatmap",
        "name": "soft label",
        "z": soft[place.ravel()],
        "x": list(range(len(names))),
        "y": strip.ravel(),
        "zmin": 0,
        "zmax": 1,
        "colorscale": SEQUENTIAL,
        "colorbar": colorbar("share", len=0.9),
        "customdata": np.repeat(place.ravel()[:, None] + NUMBERED, len(names), axis=1)[..., None],
        "meta": {"x": "class number", "y": "height in its row", "columns": ["input"]},
        "hovertemplate": "input %{customdata[0]}, class %{x}: %{z:.1%}<extra></extra>",
        **on(1),
    }
    ends = {"range": [count - 0.4, -0.55], "showgrid": False, "zeroline": False}
    ticks = {"tickmode": "array", "tickvals": list(range(count)), "ticktext": short([names[c] for c in shown], 12)}
    classes = class_ticks(names)
    # Tiles keep their shape: a panel that is wider than they need is left empty.
    x = [SQUARE | {"visible": False, "range": [-0.5, tiles - 0.5]}, classes | {"showgrid": False, "zeroline": False}]
    y = [ends | ticks, ends | {"matches": "y", "visible": False}]
    titles, widths = ["Distilled, with their weights", "Soft labels"], [max(tiles, 4), np.clip(0.4 * len(names), 4, 12)]
    if real is not None:
        x.append(SQUARE | {"visible": False, "range": [-0.5, REAL - 0.5]})
        y.append(ends | {"matches": "y", "visible": False})
        titles.append("Real images of the class")
        widths.append(REAL)
    layout = panels(titles, len(titles), x, y, gap=(0.03, 0), widths=widths)
    return figure(
        [touch, written, labelled],
        64 + ROW * count,
        images=pictures,
        min_width=round(90 + ROW * WIDE / HIGH * sum(widths)),
        showlegend=False,
        margin={"l": 60, "t": 30, "b": 28},
        **layout,
    )


def _first(labels: np.ndarray, shown: range) -> np.ndarray:
    """The first few images of each class; of a class with fewer, some twice."""
    return np.stack([np.resize(np.flatnonzero(labels == c), REAL) for c in shown])


def _picture(images: Images, place: np.ndarray, panel: int) -> dict:
    """One picture of tiles, a row per class, in a panel."""
    axes = on(panel)
    return {
        "source": sheet(images, place, np.ones(place.shape)),
        "xref": axes["xaxis"], "yref": axes["yaxis"], "x": -0.5, "y": -0.5,
        "sizex": place.shape[1], "sizey": place.shape[0],
        "xanchor": "left", "yanchor": "top", "sizing": "stretch", "layer": "below",
    }  # fmt: skip


def losses(history: np.ndarray, names: Sequence[str]) -> go.Figure:
    """Feature and batch-norm loss over iterations (iterations, C, 2), each class thin, their mean thick."""
    if not len(history):
        return empty("These are real images, chosen and not synthesised: there is no loss.")
    steps = np.arange(1, len(history) + 1)
    kept = np.unique(np.geomspace(1, len(history), 200).round().astype(int)) - 1
    names, traces = [literal.plotly(name) for name in names], []
    for panel in range(2):
        each = [(names[c], history[:, c, panel], faded(series(c), 0.6), 1.2) for c in range(min(len(names), NAMED))]
        for name, values, colour, width in [*each, (MEAN, history[:, :, panel].mean(axis=1), GREY, 4)]:
            traces.append(
                {
                    "type": "scatter",
                    "mode": "lines",
                    "name": name,
                    "legendgroup": name,
                    "showlegend": panel == 0 and (name == MEAN or len(names) <= NAMED),
                    "x": steps[kept],
                    "y": values[kept],
                    "line": {"color": colour, "width": width},
                    "meta": {"y": LOSSES[panel].lower()},
                    "hovertemplate": f"{name}: %{{y:.3g}} at iteration %{{x}}<extra></extra>",
                    **on(panel),
                }
            )
    x = [{"title": "iteration"}] * 2
    y = [log_axis(history[:, :, panel]) if (history[:, :, panel] > 0).any() else {} for panel in range(2)]
    titles = [LOSSES[0], LOSSES[1] if (history[:, :, 1] > 0).any() else "No batch-norm layers: λ = 0"]
    return figure(traces, height=360, margin={"t": 40}, **panels(titles, 2, x, y, gap=(0.09, 0)))


def feature_map(
    real: np.ndarray,
    real_labels: np.ndarray,
    points: np.ndarray,
    features: np.ndarray,
    labels: np.ndarray,
    weights: np.ndarray,
    names: Sequence[str],
) -> go.Figure:
    """Real images, barycenter points and distilled images on the two leading directions of the real features.

    real: (q, d), points: (m, d), features: (m, d); weights (m,) are the area of a distilled image
    """
    centre = real.mean(axis=0)
    _, values, directions = np.linalg.svd(real - centre, full_matrices=False)
    plane = directions[:2].T
    seen, targets, images = ((each - centre) @ plane for each in (real, points, features))
    size = 26 * np.sqrt(weights / weights.max())

    def dots(name: str, at: np.ndarray, of: np.ndarray, **marker) -> dict:
        return {
            "type": "scatter",
            "mode": "markers",
            "name": name,
            "x": at[:, 0],
            "y": at[:, 1],
            "customdata": [[literal.plotly(names[c]), number(i)] for i, c in enumerate(map(int, of))],
            "meta": {"columns": ["class", "number"]},
            "hovertemplate": f"{name}, class %{{customdata[0]}}<extra></extra>",
            "marker": {"symbol": [SYMBOLS[c // len(SERIES) % 3] for c in of]} | marker,
        }

    colours = [series(c) for c in labels]
    shown = [dots("real image", seen, real_labels, color=[faded(series(c), 0.5) for c in real_labels], size=4)]
    if not np.array_equal(points, features):
        gaps = np.full((len(points), 3, 2), np.nan)
        gaps[:, 0], gaps[:, 1] = targets, images
        flat = gaps.reshape(-1, 2)
        line = {"color": GREY, "width": 1}
        shown.append({"type": "scatter", "mode": "lines", "name": "distance left", "x": flat[:, 0], "y": flat[:, 1],
                      "line": line, "hoverinfo": "skip"})  # fmt: skip
        shown.append(
            dots("barycenter point", targets, labels, color="white", size=6, line={"color": colours, "width": 1.5})
        )
    kept = dots("distilled image, area by weight", images, labels, color=[faded(c, 0.75) for c in colours], size=size)
    kept["marker"]["line"] = {"color": "white", "width": 1}
    kept["customdata"] = [[*name, float(w)] for name, w in zip(kept["customdata"], weights, strict=True)]
    kept["meta"] = {"columns": ["class", "number", "weight"]}
    kept["hovertemplate"] = "distilled image, class %{customdata[0]}, weight %{customdata[2]:.3f}<extra></extra>"
    share = values**2 / np.sum(values**2)
    x, y = ({"title": f"direction {i + 1} ({share[i]:.0%} of variance)", "zeroline": False} for i in range(2))
    return figure([*shown, kept, _names(seen, real_labels, names)], height=400, xaxis=x, yaxis=y, margin={"t": 34})


def _names(seen: np.ndarray, labels: np.ndarray, names: Sequence[str]) -> dict:
    """Each class by its name, in the middle of its images; many would hide them."""
    classes = np.unique(labels)[:NAMED]
    middle = np.array([seen[labels == c].mean(axis=0) for c in classes])
    return {
        "type": "scatter",
        "mode": "text",
        "showlegend": False,
        "x": middle[:, 0],
        "y": middle[:, 1],
        "text": [f"<b>{literal.plotly(names[int(c)])}</b>" for c in classes],
        "textfont": {"size": 15},
        "hoverinfo": "skip",
    }
