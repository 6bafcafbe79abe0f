"""Scores and conditioning over size, rank and ridge; all methods side by side."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go

from dntk_core.dashboard.drawing.metrics import FIRST, METRICS, Measure, is_share, of, words
from dntk_core.dashboard.drawing.palette import BLUE, GREEN, GREY, ORANGE, PURPLE, SERIES, SKY, VERMILION, faded, series
from dntk_core.dashboard.figures.canvas import figure, log_axis, measure_axis, on, panels, ridge_axis, thin
from dntk_core.readout.comparison import MethodCurve
from dntk_core.readout.curves import Curve
from dntk_core.readout.intervals import share_interval
from dntk_core.readout.leave_one_out import LeaveOneOut

AXES = {"size": "gradients s", "rank": "rank r", "ridge": "ridge"}
NETWORK = "network's accuracy"
OTHER = "other readout"
DASHES = ("solid", "dot", "dash")
SYMBOLS = ("circle", "diamond", "square")
COLOURS = (BLUE, VERMILION, GREEN, PURPLE, SKY, ORANGE, GREY)


@dataclass(frozen=True)
class Quantity:
    """Something measured that is no score."""

    title: str
    format: str
    log: bool


CONDITIONING = {
    "condition": Quantity("Condition number", ".3g", log=True),
    "smallest": Quantity("Smallest eigenvalue", ".3g", log=True),
}
SUBSPACE = {
    "coverage": Quantity("Subspace variance covered", ".1%", log=False),
    "reconstruction": Quantity("Reconstruction error", ".3g", log=True),
}


def curve(
    results: Mapping[str, Curve],
    over: str,
    mark: float,
    network: float,
    t: int,
    settings: Sequence[str] = (),
    left_out: LeaveOneOut | None = None,
) -> go.Figure:
    """Every score, condition number and smallest eigenvalue over "size", "rank" or "ridge".

    results: what is scored, by name; the first with the 95% intervals of t test inputs
    mark: where the sliders stand; network: the network's own test accuracy
    settings: of Algorithm 1 at every x, where it made the gradients; left_out: the error without test data, over ridge
    """
    groups = [*_together(METRICS), *({name: each} for name, each in CONDITIONING.items())]
    drawn = [(panel, name, measure) for panel, group in enumerate(groups) for name, measure in group.items()]
    place = f"{AXES[over]} = %{{x}}" + ("<br>%{customdata[0]}" if settings else "")
    hover = {"customdata": [[text] for text in settings]} if settings else {}
    first = next(iter(results.values()))
    traces = [
        _interval(first.x, first[name], t, words(measure), COLOURS[order % len(COLOURS)], panel)
        for order, (panel, name, measure) in enumerate(drawn)
        if name in METRICS and METRICS[name].share
    ]
    traces += [
        {
            "type": "scatter",
            "mode": "lines" if len(result.x) > 30 else "lines+markers",
            "name": words(measure) if len(results) == 1 else f"{words(measure)}, {label}",
            "x": result.x[thin(len(result.x))],
            "y": of(result, name)[thin(len(result.x))],
            "line": {"color": COLOURS[order % len(COLOURS)], "width": 2.5, "dash": DASHES[i % len(DASHES)]},
            "showlegend": panel == 0,
            "meta": {"series": label, "x": AXES[over], "y": words(measure)}
            | ({"columns": ["setting"]} if settings else {}),
            **hover,
            "hovertemplate": f"{label}: {words(measure)} %{{y:{measure.format}}} at {place}<extra></extra>",
            **on(panel),
        }
        for order, (panel, name, measure) in enumerate(drawn)
        for i, (label, result) in enumerate(results.items())
    ]
    ends = [float(f([f(result.x) for result in results.values()])) for f in (np.min, np.max)]
    traces.append(_reference(NETWORK, ends, network, AXES[over]))
    if left_out is not None:
        traces.append(_left_out(left_out, next(panel for panel, name, _ in drawn if name == "mse")))
    titles = [_capital(" and ".join(map(words, group.values()))) for group in groups]
    axis = (ridge_axis if over == "ridge" else log_axis)(np.array(ends))
    x = [axis | {"title": AXES[over] if i >= len(groups) - 2 else ""} for i in range(len(groups))]
    y = [_axis(group, results) for group in groups]
    line = {"color": GREY, "width": 1.5, "dash": "dash"}
    marks = [
        {"type": "line", "x0": mark, "x1": mark, "xref": on(i)["xaxis"], "yref": f"{on(i)['yaxis']} domain",
         "y0": 0, "y1": 1, "line": line}
        for i in range(len(groups))
    ]  # fmt: skip
    rows = -(-len(groups) // 2)
    layout = panels(titles, 2, x, y, gap=(0.09, 0.32 / rows))
    return figure(traces, height=20 + 240 * rows, min_width=560, shapes=marks, **layout)


def comparison(curves: Sequence[MethodCurve], m: int, chosen: str, other: MethodCurve | None = None) -> go.Figure:
    """All methods over s, with a band of one standard deviation over seeds; the chosen one in front.

    m: kernel inputs, for the compression m/s of the last panel
    other: the chosen method in the other readout, dashed
    """
    shown = METRICS | SUBSPACE
    drawn = [*((name, measure, None) for name, measure in shown.items()), (FIRST, shown[FIRST], m)]
    order = sorted(range(len(curves)), key=lambda i: curves[i].method == chosen)
    traces = [
        trace
        for panel, (name, measure, of_all) in enumerate(drawn)
        for i in order
        for trace in _method(curves[i], i, name, measure, panel, of_all, curves[i].method == chosen)
    ]
    if other is not None:
        place = next(i for i, curve in enumerate(curves) if curve.method == chosen)
        for panel, (name, measure, of_all) in enumerate(drawn):
            *_, line = _method(other, place, name, measure, panel, of_all, chosen=False)
            line["line"] |= {"width": 2.5, "dash": "dash"}
            traces.append(line | {"name": f"{chosen}, {OTHER}", "legendgroup": "other", "legendrank": 2000})
    titles = [measure.title for measure in shown.values()] + [f"{shown[FIRST].title} over compression"]
    sizes, last = log_axis(curves[0].sizes), len(drawn) - 1
    x = [sizes | {"title": "at most s gradients" if i > last - 3 else ""} for i in range(last)]
    x.append(sizes | {"title": "compression m / s"})
    y = [measure_axis(measure, *(curve.mean(name) for curve in curves)) for name, measure, _ in drawn]
    rows = -(-len(drawn) // 3)
    layout = panels(titles, 3, x, y, gap=(0.075, 0.34 / rows))
    return figure(traces, height=30 + 280 * rows, min_width=760, margin={"t": 40}, **layout)


def _capital(text: str) -> str:
    return text[0].upper() + text[1:]


def _axis(group: Mapping[str, Measure], results: Mapping[str, Curve]) -> dict:
    """The vertical axis of measures that share a panel."""
    first, *_ = group.values()
    return measure_axis(first, *(of(result, name) for name in group for result in results.values()))


def _together(measures: Mapping[str, Measure]) -> list[dict[str, Measure]]:
    """What shares a panel: all shares together, everything else by itself."""
    shares = {name: each for name, each in measures.items() if is_share(each) and not each.log}
    return [shares, *({name: each} for name, each in measures.items() if name not in shares)]


def _method(
    curve: MethodCurve, place: int, name: str, measure: Measure, panel: int, m: int | None, chosen: bool
) -> list[dict]:
    """One method in one panel: its mean and, if it is random, a band over its draws."""
    colour, turn = series(place), place // len(SERIES)
    mean, spread = curve.mean(name), curve.std(name)
    x = m / curve.sizes if m else curve.sizes
    hover = f"{curve.method}, s ≤ %{{customdata[0]}} (used %{{customdata[1]:.3g}}): {words(measure)} "
    settings = "<br>%{customdata[2]}" if any(curve.settings) else ""
    rows = zip(curve.sizes.tolist(), curve.mean("rows").tolist(), curve.settings, strict=True)
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
        "meta": {
            "x": "compression m / s" if m else "s",
            "y": measure.title,
            "columns": ["s", "gradients used", "setting"],
        },
        # A method may not make so few: there its line has a gap.
        "customdata": [[s, None if np.isnan(used) else used, setting] for s, used, setting in rows],
        "hovertemplate": hover + f"%{{y:{measure.format}}}{settings}<extra></extra>",
        **on(panel),
    }
    if chosen and name in METRICS and METRICS[name].share:
        band = _interval(x, mean, curve.correct.shape[-1], curve.method, colour, panel)
        return [band | {"legendgroup": curve.method}, line]
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
        "y": np.append(mean + spread, (np.maximum(low, mean / 10) if measure.log else low)[::-1]),
        "fill": "toself",
        "fillcolor": faded(colour, 0.15),
        "line": {"width": 0},
        "hoverinfo": "skip",
        **on(panel),
    }
    return [band, line]


def _interval(x: np.ndarray, shares: np.ndarray, t: int, name: str, colour: str, panel: int) -> dict:
    """The 95% interval of shares of t test inputs, as a thin band."""
    known = np.flatnonzero(~np.isnan(shares))
    known = known[thin(len(known))]
    low, high = np.array([share_interval(float(share), t) for share in shares[known]]).T
    return {
        "type": "scatter",
        "mode": "lines",
        "name": f"{name}, 95% interval",
        "showlegend": False,
        "x": np.append(x[known], x[known][::-1]),
        "y": np.append(high, low[::-1]),
        "fill": "toself",
        "fillcolor": faded(colour, 0.12),
        "line": {"width": 0},
        "hoverinfo": "skip",
        **on(panel),
    }


def _left_out(found: LeaveOneOut, panel: int) -> dict:
    """The error of the full kernel on kernel inputs that are left out in turn; a diamond where it is least."""
    best = found.ridges == found.best
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "name": "leave-one-out MSE, all inputs",
        "x": found.ridges,
        "y": found.mse,
        "line": {"color": PURPLE, "width": 2, "dash": "dashdot"},
        "marker": {"size": np.where(best, 11, 4), "symbol": np.where(best, "diamond", "circle").tolist()},
        "meta": {"x": "ridge", "y": "leave-one-out MSE"},
        "hovertemplate": "leave-one-out, no test data: MSE %{y:.3g} at ridge = %{x}<extra></extra>",
        **on(panel),
    }


def _reference(name: str, ends: list[float], value: float, over: str) -> dict:
    line = {"color": GREY, "width": 1.5, "dash": "dot"}
    hover = {"hovertemplate": f"{name}: {value:.1%}<extra></extra>", "meta": {"x": over, "y": "accuracy"}}
    return {"type": "scatter", "mode": "lines", "name": name, "x": ends, "y": [value, value], "line": line} | hover
