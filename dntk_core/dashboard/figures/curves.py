"""Scores and conditioning over size, rank and ridge; all methods side by side."""

from collections.abc import Mapping, Sequence

import numpy as np
import plotly.graph_objects as go

from dntk_core.dashboard.figures.canvas import figure, log_axis, on, panels, thin
from dntk_core.dashboard.palette import BLUE, GREEN, GREY, PURPLE, SERIES, SKY, VERMILION, faded, series
from dntk_core.readout.comparison import MethodCurve
from dntk_core.readout.curves import Curve

AXES = {"size": "gradients s", "rank": "rank r", "ridge": "ridge"}
DASHES = ("solid", "dot", "dash")
SYMBOLS = ("circle", "diamond", "square")
# metric: title, tick format, logarithmic
METRICS = {
    "accuracy": ("Accuracy", ".0%", False),
    "fidelity": ("Fidelity", ".0%", False),
    "mse": ("Logit MSE", None, True),
    "coverage": ("Subspace variance covered", ".0%", False),
    "reconstruction": ("Reconstruction error", None, True),
}


def curve(results: Mapping[str, Curve], over: str, mark: float, network: float) -> go.Figure:
    """Accuracy with fidelity, MSE, condition number and smallest eigenvalue over "size", "rank" or "ridge".

    results: what is scored, by name; mark: where the sliders stand; network: the network's own test accuracy
    """
    shown = [
        ("accuracy", "accuracy", BLUE, 0, ".1%"),
        ("fidelity", "fidelity", VERMILION, 0, ".1%"),
        ("MSE", "mse", GREEN, 1, ".3g"),
        ("condition number", "condition", PURPLE, 2, ".3g"),
        ("smallest eigenvalue", "smallest", SKY, 3, ".3g"),
    ]
    traces = [
        {
            "type": "scatter",
            "mode": "lines" if len(result.x) > 30 else "lines+markers",
            "name": measure if len(results) == 1 else f"{measure}, {name}",
            "x": result.x[thin(len(result.x))],
            "y": getattr(result, field)[thin(len(result.x))],
            "line": {"color": colour, "width": 2.5, "dash": DASHES[i % len(DASHES)]},
            "showlegend": panel == 0,
            "meta": {"series": name, "x": AXES[over], "y": measure},
            "hovertemplate": f"{name}: {measure} %{{y:{form}}} at {AXES[over]} = %{{x}}<extra></extra>",
            **on(panel),
        }
        for measure, field, colour, panel, form in shown
        for i, (name, result) in enumerate(results.items())
    ]
    ends = [float(f([f(result.x) for result in results.values()])) for f in (np.min, np.max)]
    traces.append(_reference("network's accuracy", ends, network))
    titles = ["Accuracy and fidelity", "Logit MSE", "Condition number", "Smallest eigenvalue"]
    x = [log_axis(np.array(ends)) | {"title": AXES[over] if i > 1 else ""} for i in range(4)]
    y = [{"tickformat": ".0%"}]
    y += [
        log_axis(*(getattr(result, field) for result in results.values())) for field in ("mse", "condition", "smallest")
    ]
    line = {"color": GREY, "width": 1.5, "dash": "dash"}
    marks = [
        {"type": "line", "x0": mark, "x1": mark, "xref": on(i)["xaxis"], "yref": f"{on(i)['yaxis']} domain",
         "y0": 0, "y1": 1, "line": line}
        for i in range(4)
    ]  # fmt: skip
    return figure(traces, height=500, min_width=560, shapes=marks, **panels(titles, 2, x, y, gap=(0.09, 0.16)))


def comparison(curves: Sequence[MethodCurve], m: int, chosen: str) -> go.Figure:
    """All methods over s, with a band of one standard deviation over seeds; the chosen one in front.

    m: kernel inputs, for the compression m/s of the last panel
    """
    traces = []
    order = sorted(range(len(curves)), key=lambda i: curves[i].method == chosen)
    for panel, (metric, compression) in enumerate([*((name, False) for name in METRICS), ("fidelity", True)]):
        for i in order:
            traces += _method(curves[i], i, metric, panel, m if compression else None, curves[i].method == chosen)
    titles = [title for title, _, _ in METRICS.values()] + ["Fidelity over compression"]
    forms = [*METRICS.values(), METRICS["fidelity"]]
    sizes = log_axis(curves[0].sizes)
    x = [sizes | {"title": "at most s gradients" if i in (3, 4) else ""} for i in range(5)]
    x.append(sizes | {"title": "compression m / s"})
    y = [{"tickformat": form} for _, form, _ in forms]
    for i, metric in enumerate(METRICS):
        if METRICS[metric][2]:
            y[i] = log_axis(*(curve.mean(metric) for curve in curves))
    layout = panels(titles, 3, x, y, gap=(0.075, 0.17))
    return figure(traces, height=590, min_width=760, margin={"t": 40}, **layout)


def _method(curve: MethodCurve, place: int, metric: str, panel: int, m: int | None, chosen: bool) -> list[dict]:
    """One method in one panel: its mean and, if it is random, a band over its draws."""
    colour, turn = series(place), place // len(SERIES)
    title, form, log = METRICS[metric]
    mean, spread = curve.mean(metric), curve.std(metric)
    x = m / curve.sizes if m else curve.sizes
    hover = f"{curve.method}, s ≤ %{{customdata[0]}} (used %{{customdata[1]:.3g}}): {title.lower()} "
    line = {
        "type": "scatter",
        "mode": "lines+markers",
        "name": curve.method,
        "legendgroup": curve.method,
        "showlegend": panel == 0,
        # The chosen one is drawn last, but the legend keeps the methods' order.
        "legendrank": 1000 + place,
        "x": x,
        "y": mean,
        "line": {"color": colour, "width": 4 if chosen else 1.5, "dash": DASHES[turn % 3]},
        "marker": {"size": 8 if chosen else 5, "symbol": SYMBOLS[turn % 3]},
        "meta": {"x": "compression m / s" if m else "s", "y": title, "columns": ["s", "gradients used"]},
        "customdata": np.column_stack([curve.sizes, curve.mean("rows")]),
        "hovertemplate": hover + f"%{{y:{form or '.3g'}}}<extra></extra>",
        **on(panel),
    }
    if len(curve.rows) == 1:
        return [line]
    low = mean - spread
    band = {
        "type": "scatter",
        "mode": "lines",
        "name": f"{curve.method}, spread",
        "legendgroup": curve.method,
        "showlegend": False,
        "x": np.append(x, x[::-1]),
        # A log axis has no zero.
        "y": np.append(mean + spread, (np.maximum(low, mean / 10) if log else low)[::-1]),
        "fill": "toself",
        "fillcolor": faded(colour, 0.15),
        "line": {"width": 0},
        "hoverinfo": "skip",
        **on(panel),
    }
    return [band, line]


def _reference(name: str, ends: list[float], value: float) -> dict:
    line = {"color": GREY, "width": 1.5, "dash": "dot"}
    hover = {"hovertemplate": f"{name}: {value:.1%}<extra></extra>", "meta": {"x": "from, to", "y": "accuracy"}}
    return {"type": "scatter", "mode": "lines", "name": name, "x": ends, "y": [value, value], "line": line} | hover
