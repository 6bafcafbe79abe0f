"""Spectra of the class kernels, what is read off them, and the kernel itself."""

from collections.abc import Mapping

import numpy as np
import plotly.graph_objects as go

from dntk_core.dashboard.drawing import literal
from dntk_core.dashboard.drawing.palette import SEQUENTIAL, SERIES, TEXT, faded, series
from dntk_core.dashboard.figures.canvas import colorbar, figure, on, panels, powers, thin
from dntk_core.kernels.kernel import Kernel
from dntk_core.kernels.spectrum import Between, Spectrum

DASHES = ("solid", "dot", "dashdot")
MEAN = {"color": TEXT, "dash": "dash"}
CELLS = 140
# Kernels that a legend names; of more, only the mean, the chosen one and those of the smallest and largest rank.
NAMED = 21


def spectra(found: Mapping[str, Spectrum], epsilon: float, chosen: str) -> go.Figure:
    """All spectra on a log scale, truncation ranks r marked, the chosen kernel in front.

    found: by kernel name; of a spectrum that is not complete, a rank beyond what is known has no mark
    """
    names = sorted(found, key=lambda name: name == chosen)
    ranks = {name: int(found[name].rank(epsilon).high) for name in names}
    named = _named(ranks, next(iter(found)), chosen)
    lines = [
        _line(name, found[name].values, colour(found, name), name == chosen)
        | {"legendrank": list(found).index(name), "showlegend": name in named}
        for name in names
    ]
    names = [name for name in names if ranks[name] <= len(found[name].values)]
    shown = [literal.plotly(name) for name in names]
    marks = {
        "type": "scatter",
        "mode": "markers",
        # Short: the longest name decides how many stand side by side in the legend.
        "name": "rank r",
        "legendrank": len(found),
        "x": [ranks[name] for name in names],
        "y": [max(found[name].values[ranks[name] - 1], np.finfo(float).tiny) for name in names],
        "text": shown,
        "meta": {"series": f"truncation rank at ε = {epsilon:g}", "columns": ["kernel"]},
        "customdata": [[name] for name in shown],
        "hovertemplate": "%{text}: truncation rank %{x}<extra></extra>",
        "marker": {
            "color": [colour(found, name)["color"] for name in names],
            "size": [11 if name == chosen else 8 for name in names],
            "symbol": "diamond",
            "line": {"width": 1, "color": "white"},
        },
    }
    return figure(
        [*lines, marks],
        height=420,
        margin={"l": 64, "r": 12, "t": 28, "b": 44},
        xaxis={"title": "index i"},
        yaxis=powers() | {"title": "singular value λ<sub>i</sub>"},
    )


def summary(found: Mapping[str, Spectrum], epsilon: float, lam: float, chosen: str) -> go.Figure:
    """Truncation rank, redundancy and effective dimension at λ of every kernel, in the colours of its spectrum."""
    names = list(found)
    ranks = [found[name].rank(epsilon) for name in names]
    sizes = [found[name].m for name in names]
    measures = {
        f"Truncation rank r (ε = {epsilon:g})": ranks,
        "Data redundancy m / r": [Between(m / r.high, m / r.low) for m, r in zip(sizes, ranks, strict=True)],
        "Effective dimension d(λ̄)": [found[name].dimension(lam) for name in names],
    }
    bars = [
        {
            "type": "bar",
            "orientation": "h",
            "name": title,
            # Where only bounds are known, the bar ends at the lower and a whisker at the upper one.
            "x": [number.low for number in numbers],
            "error_x": {
                "type": "data",
                "symmetric": False,
                "array": [number.high - number.low for number in numbers],
                "arrayminus": [0.0 for _ in numbers],
                # Without a cap nothing is drawn where there is nothing between.
                "width": 0,
                "visible": not all(number.exact for number in numbers),
            },
            "y": [literal.plotly(name) for name in names],
            "text": [f"{number:.3g}" for number in numbers],
            # Beside the bar, but not across a whisker.
            "textposition": ["outside" if number.exact else "inside" for number in numbers],
            "insidetextanchor": "end",
            "cliponaxis": False,
            "meta": {"x": title, "y": "kernel"},
            "hovertemplate": "%{y}: %{x:.4g}<extra></extra>",
            "marker": {"color": [faded(colour(found, name)["color"], 1 if name == chosen else 0.6) for name in names]},
            **on(i),
        }
        for i, (title, numbers) in enumerate(measures.items())
    ]
    x = [{"range": [0, 1.15 * max(number.high for number in numbers)], "nticks": 5} for numbers in measures.values()]
    y = [{"type": "category", "autorange": "reversed", "showticklabels": i == 0, "showgrid": False} for i in range(3)]
    return figure(
        bars,
        height=96 + 21 * len(names),
        min_width=600,
        showlegend=False,
        bargap=0.18,
        margin={"r": 24, "b": 28},
        **panels(list(measures), 3, x, y, gap=(0.04, 0)),
    )


def kernel_picture(kernel: Kernel, labels: np.ndarray) -> go.Figure:
    """The kernel (m, m) as cosines, inputs sorted by cluster labels (m,); large ones as means over blocks."""
    m = len(labels)
    norms = np.sqrt(np.clip(kernel.diagonal(), np.finfo(float).tiny, None))
    starts = np.unique(np.linspace(0, m, min(m, CELLS), endpoint=False).astype(int))
    widths = np.diff(np.append(starts, m))
    # Column b averages the unit gradients of block b: a kernel kept as features needs no more than products.
    mean = np.zeros((m, len(starts)))
    mean[np.argsort(labels, kind="stable"), np.repeat(np.arange(len(starts)), widths)] = 1 / np.repeat(widths, widths)
    mean /= norms[:, None]
    blocks = mean.T @ kernel.times(mean)
    middle = starts + (widths - 1) / 2
    heat = {
        "type": "heatmap",
        "x": middle,
        "y": middle,
        "z": blocks.astype(np.float32),
        "colorscale": SEQUENTIAL,
        "meta": {"x": "column's input, by cluster", "y": "row's input, by cluster"},
        "colorbar": colorbar("cosine", len=0.85, y=1, yanchor="top"),
        "hovertemplate": "places %{x:.0f}, %{y:.0f} in cluster order: %{z:.3f}<extra></extra>",
    }
    edges = np.cumsum(np.bincount(labels))[:-1] - 0.5
    ends = [-0.5, len(labels) - 0.5]
    cuts = {
        "type": "scatter",
        "mode": "lines",
        # A gap after each line; None ends a stretch.
        "x": [v for e in edges for v in (e, e, None, *ends, None)],
        "y": [v for e in edges for v in (*ends, None, e, e, None)],
        "line": {"color": "rgba(255,255,255,0.8)", "width": 1},
        "hoverinfo": "skip",
    }
    plain = {"constraintoward": "top", "showgrid": False, "zeroline": False, "constrain": "domain", "range": ends}
    return figure(
        [heat, cuts],
        height=420,
        showlegend=False,
        margin={"l": 48, "r": 8, "t": 8, "b": 44},
        xaxis=plain | {"title": "input, by cluster"},
        yaxis=plain | {"title": "input, by cluster", "range": ends[::-1], "scaleanchor": "x"},
    )


def alike(kernel: Kernel, labels: np.ndarray) -> tuple[float, float]:
    """Mean cosine between the gradients of two inputs of one cluster, and of two inputs of different ones."""
    m, H = len(labels), int(labels.max()) + 1
    unit = np.zeros((m, H))
    unit[np.arange(m), labels] = 1 / np.sqrt(np.clip(kernel.diagonal(), np.finfo(float).tiny, None))
    sums, counts = unit.T @ kernel.times(unit), np.bincount(labels, minlength=H)
    within, pairs = np.trace(sums) - m, np.sum(counts * (counts - 1))
    others = m * m - np.sum(counts**2)
    return float(within / max(pairs, 1)), float((sums.sum() - np.trace(sums)) / max(others, 1))


def colour(found: Mapping[str, Spectrum], name: str) -> dict:
    """Colour and dash of a kernel: the same for its line, its mark and its bar."""
    place = list(found).index(name) - 1
    # The mean of all is drawn apart from the classes.
    return {"color": series(max(place, 0)), "dash": DASHES[place // len(SERIES) % len(DASHES)]} if place >= 0 else MEAN


def _named(ranks: Mapping[str, int], mean: str, chosen: str) -> set[str]:
    """The kernels that a legend has room for."""
    if len(ranks) <= NAMED:
        return set(ranks)
    return {mean, chosen, min(ranks, key=ranks.__getitem__), max(ranks, key=ranks.__getitem__)}


def _line(name: str, values: np.ndarray, style: dict, chosen: bool) -> dict:
    # Below this an eigenvalue is rounding, and a log axis has no zero.
    kept = max(1, int(np.sum(values > 1e-13 * max(values[0], np.finfo(float).tiny))))
    places = thin(kept)
    return {
        "type": "scatter",
        "mode": "lines",
        "name": literal.plotly(name),
        "x": places + 1,
        "y": np.maximum(values[places], np.finfo(float).tiny),
        "line": style | {"width": 3 if chosen else 1.5},
        "opacity": 1 if chosen else 0.65,
        "hovertemplate": f"{literal.plotly(name)}: λ<sub>%{{x}}</sub> = %{{y:.3g}}<extra></extra>",
    }
