"""Distilled images: what they look like, how they were made, where they lie, and what they capture."""

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from dntk_core.dashboard import literal
from dntk_core.dashboard.figures.canvas import colorbar, empty, figure, log_axis, on, panels
from dntk_core.dashboard.figures.distillation import sheet, short
from dntk_core.dashboard.palette import BLUE, GREY, ORANGE, SEQUENTIAL, SERIES, VERMILION, faded, series
from dntk_core.data.images import ImageArray
from dntk_core.dataset.judgement import Judgement
from dntk_core.dataset.tangent import Capture

TILES = 10
SYMBOLS = ("diamond", "square", "cross")


def gallery(
    images: np.ndarray | ImageArray,
    labels: np.ndarray,
    weights: np.ndarray,
    soft: np.ndarray,
    names: Sequence[str],
    shown: range,
) -> go.Figure:
    """The heaviest images of some classes, a row each, beside their soft labels.

    images: (m, channels, height, width) in [0, 1], labels: (m,), weights: (m,), soft: (m, C) probabilities
    shown: which classes
    """
    rows = [np.flatnonzero(labels == c) for c in shown]
    rows = [members[np.argsort(-weights[members], kind="stable")][:TILES] for members in rows]
    place = np.stack(rows)
    count, tiles = place.shape
    line, tile = np.indices(place.shape)
    picture = {
        "source": sheet(images, place, np.ones(place.shape)),
        "xref": "x", "yref": "y", "x": -0.5, "y": -0.5, "sizex": tiles, "sizey": count,
        "xanchor": "left", "yanchor": "top", "sizing": "stretch", "layer": "below",
    }  # fmt: skip
    written = {
        "type": "scatter",
        "name": "weight",
        "mode": "text",
        "x": tile.ravel(),
        "y": line.ravel() + 0.45,
        "text": [f"{weights[i]:.2f}" for i in place.ravel()],
        "textfont": {"size": 11},
        "customdata": soft[place.ravel()].max(axis=1),
        "hovertemplate": "weight %{text}, highest soft label %{customdata:.1%}<extra></extra>",
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
        "customdata": np.repeat(soft.argmax(axis=1)[place.ravel()][:, None], len(names), axis=1),
        "hovertemplate": "class %{x}: %{z:.1%}<extra></extra>",
        **on(1),
    }
    ends = {"range": [count - 0.4, -0.55], "showgrid": False, "zeroline": False}
    ticks = {"tickmode": "array", "tickvals": list(range(count)), "ticktext": short([names[c] for c in shown], 12)}
    classes = {"tickmode": "array", "tickvals": list(range(len(names))), "ticktext": short(names)}
    x = [{"visible": False, "range": [-0.5, tiles - 0.5]}, classes | {"showgrid": False, "zeroline": False}]
    y = [ends | ticks, ends | {"matches": "y", "visible": False}]
    layout = panels(["Images, with their weights", "Soft labels"], 2, x, y, gap=(0.03, 0), widths=[2, 1])
    return figure(
        [written, labelled],
        64 + 68 * count,
        images=[picture],
        showlegend=False,
        margin={"l": 60, "t": 30, "b": 28},
        **layout,
    )


def losses(history: np.ndarray, names: Sequence[str]) -> go.Figure:
    """Feature and batch-norm loss over iterations (iterations, C, 2), each class thin, their mean thick."""
    if not len(history):
        return empty("These are real images, chosen and not synthesised: there is no loss.")
    steps = np.arange(1, len(history) + 1)
    kept = np.unique(np.geomspace(1, len(history), 200).round().astype(int)) - 1
    names, traces = [literal.plotly(name) for name in names], []
    for panel in range(2):
        each = [(names[c], history[:, c, panel], faded(series(c), 0.45), 1.2) for c in range(min(len(names), 20))]
        for name, values, colour, width in [*each, ("mean of all classes", history[:, :, panel].mean(axis=1), GREY, 4)]:
            traces.append(
                {
                    "type": "scatter",
                    "mode": "lines",
                    "name": name,
                    "showlegend": panel == 0 and width == 4,
                    "x": steps[kept],
                    "y": values[kept],
                    "line": {"color": colour, "width": width},
                    "hovertemplate": f"{name}: %{{y:.3g}} at iteration %{{x}}<extra></extra>",
                    **on(panel),
                }
            )
    x = [{"title": "iteration"}] * 2
    y = [log_axis(history[:, :, panel]) if (history[:, :, panel] > 0).any() else {} for panel in range(2)]
    titles = ["Feature loss", "Batch-norm loss" if (history[:, :, 1] > 0).any() else "No batch-norm layers: λ = 0"]
    return figure(traces, height=300, margin={"t": 40}, **panels(titles, 2, x, y, gap=(0.09, 0)))


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
            "text": [literal.plotly(names[c]) for c in map(int, of)],
            "hovertemplate": f"{name}, class %{{text}}<extra></extra>",
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
    kept["customdata"] = weights
    kept["hovertemplate"] = "distilled image, class %{text}, weight %{customdata:.3f}<extra></extra>"
    share = values**2 / np.sum(values**2)
    x, y = ({"title": f"direction {i + 1} ({share[i]:.0%} of variance)", "zeroline": False} for i in range(2))
    return figure([*shown, kept], height=400, xaxis=x, yaxis=y, margin={"t": 34})


def judgements(found: Sequence[Judgement]) -> go.Figure:
    """What every selection misses: tail and misalignment, four ways; kernel error and bound; loss residual."""
    names = [literal.plotly(each.name) for each in found]
    energies = {
        "Class kernels, real inputs": "classes",
        "Class kernels, held-out inputs": "classes_held_out",
        "V(D̃), real inputs": "stacked",
        "V(D̃), held-out inputs": "stacked_held_out",
    }
    traces = []
    for panel, part in enumerate(energies.values()):
        captures = [getattr(each, part) for each in found]
        if None not in captures:
            traces += _missed(captures, names, panel)
    kernels = [each.kernel for each in found if each.kernel]
    if len(kernels) == len(found):
        errors, bounds = [each.error / each.norm for each in kernels], [each.bound / each.norm for each in kernels]
        traces.append(_bars("kernel error", errors, names, 4, BLUE, [f"{share:.2%}" for share in errors]))
        traces.append(
            {
                "type": "scatter",
                "mode": "markers",
                "name": "bound on it",
                "x": bounds,
                "y": names,
                "marker": {"symbol": "line-ns-open", "size": 14, "color": GREY, "line": {"width": 3}},
                "hovertemplate": "%{y}: bound %{x:.1%}<extra></extra>",
                **on(4),
            }
        )
    steps = [each.step for each in found if each.step]
    if len(steps) == len(found):
        shares = [each.residual / each.gradient for each in steps]
        traces.append(_bars("loss residual", shares, names, 5, VERMILION, [f"{share:.2%}" for share in shares]))
    titles = [*energies, "Kernel error and its bound", "Loss gradients left out"]
    for panel, title in enumerate(titles):
        if not any(trace["xaxis"] == on(panel)["xaxis"] for trace in traces):
            titles[panel] = f"{title}: k is too small"
    x = [{"tickformat": ".0%", "rangemode": "tozero", "nticks": 5}] * 4
    x += [{"type": "log", "tickformat": ".0%", "dtick": 1}, x[0]]
    y = [
        {"type": "category", "autorange": "reversed", "showticklabels": i % 2 == 0, "showgrid": False} for i in range(6)
    ]
    layout = panels(titles, 2, x, y, gap=(0.04, 0.11))
    return figure(
        traces, height=190 + 75 * len(names), barmode="relative", bargap=0.3, margin={"l": 120, "t": 44}, **layout
    )


def _missed(captures: Sequence[Capture], names: Sequence[str], panel: int) -> list[dict]:
    """Tail and misalignment as shares of the energy, with how many times the tail they are."""
    tail = [each.tail / each.total for each in captures]
    beyond = [each.misalignment / each.total for each in captures]
    times = [f"{each.relative:.2f} ×" for each in captures]
    return [
        _bars("PCA tail", tail, names, panel, GREY, ["" for _ in tail]),
        _bars("misalignment", beyond, names, panel, ORANGE, times),
    ]


def _bars(
    name: str, values: Sequence[float], names: Sequence[str], panel: int, colour: str, texts: Sequence[str]
) -> dict:
    return {
        "type": "bar",
        "orientation": "h",
        "name": name,
        "x": list(values),
        "y": list(names),
        "text": list(texts),
        "textposition": "outside",
        "textfont": {"size": 11},
        "cliponaxis": False,
        "marker": {"color": colour},
        "showlegend": panel in (0, 4),
        "hovertemplate": f"%{{y}}: {name} %{{x:.3%}}<extra></extra>",
    } | on(panel)
