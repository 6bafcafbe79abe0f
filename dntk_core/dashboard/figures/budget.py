"""The terms of the paper's bounds over ridge and projected dimension."""

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from dntk_core.dashboard.drawing.palette import BLUE, GREEN, GREY, ORANGE, PURPLE, SKY, VERMILION, faded
from dntk_core.dashboard.figures.canvas import PERCENT, figure, log_axis, ridge_axis
from dntk_core.kernels.spectrum import ParameterRedundancy
from dntk_core.readout.bounds import Approximation, ErrorBudget

TERMS = (("bias", "bias", ORANGE), ("variance", "variance", GREEN))


def over_ridge(
    budgets: Sequence[ErrorBudget],
    ridges: Sequence[float],
    c: int | None,
    ridge: float,
    split: Approximation | None = None,
) -> go.Figure:
    """The error terms stacked over ridges, beside the error measured; c is a class, None their mean.

    split: what E_approx is made of; its parts share its height by their squares, which add up
    """

    def mean(values: np.ndarray) -> np.ndarray:
        return values.mean(axis=-1) if c is None else values[..., c]

    def of(field: str) -> np.ndarray:
        return mean(np.array([getattr(budget, field) for budget in budgets]))

    areas = [_area(ridges, of("approx").tolist(), "approximation", BLUE, "ridge")]
    if split is not None:
        approx = np.array([budget.approx for budget in budgets])
        total = split.projection**2 + split.nonlinear**2
        share = np.divide(split.projection**2, total, out=np.zeros_like(total), where=total > 0)
        parts = (("non-linearity", SKY, 1 - share, split.nonlinear), ("projection", BLUE, share, split.projection))
        areas = [
            _area(ridges, mean(approx * part).tolist(), f"{name} ({mean(alone):.2g} alone)", colour, "ridge")
            for name, colour, part, alone in parts
        ]
    areas += [_area(ridges, of(field).tolist(), name, colour, "ridge") for field, name, colour in TERMS]
    measured = {
        "type": "scatter",
        "mode": "lines+markers",
        "name": "measured",
        "x": list(ridges),
        "y": of("measured"),
        "line": {"color": VERMILION, "width": 3},
        "marker": {"size": 6},
        "hovertemplate": "measured %{y:.3g} at ridge %{x:.0e}<extra></extra>",
    }
    x = ridge_axis(np.array(ridges)) | {"title": "ridge"}
    y = {"title": "root mean square error of a logit", "rangemode": "tozero"}
    return figure([*areas, measured], height=400, shapes=[_mark(ridge)], xaxis=x, yaxis=y)


def over_dimension(
    terms: Sequence[ParameterRedundancy], dimensions: Sequence[int], k: int | None, measured: float | None
) -> go.Figure:
    """Truncation tail and projection error stacked over k; the run's own k and its measured error marked.

    k, measured: None for a run without projection
    """
    tails = [term.tail for term in terms]
    areas = [
        _area(dimensions, tails, "truncation tail", PURPLE, "k"),
        _area(dimensions, [term.jl for term in terms], "projection", BLUE, "k"),
    ]
    exact = {
        "type": "scatter",
        "mode": "lines",
        "name": "tail, exactly",
        "x": list(dimensions),
        "y": [term.exact_tail for term in terms],
        "line": {"color": PURPLE, "width": 2, "dash": "dot"},
        "hovertemplate": "tail, exactly: %{y:.2%}<extra></extra>",
    }
    traces, shapes = [*areas, exact], []
    if k is not None and measured is not None:
        shapes.append(_mark(k))
        traces.append(
            {
                "type": "scatter",
                "mode": "markers",
                "name": "measured",
                "x": [k],
                "y": [measured],
                "marker": {"color": VERMILION, "size": 12, "symbol": "diamond", "line": {"color": "white", "width": 1}},
                "hovertemplate": "measured at k = %{x}: %{y:.2%}<extra></extra>",
            }
        )
    y = {"title": "relative error of the kernel", "tickformat": PERCENT, "rangemode": "tozero"}
    x = log_axis(np.array(dimensions)) | {"title": "projected dimension k"}
    return figure(traces, height=400, shapes=shapes, xaxis=x, yaxis=y)


def _area(x: Sequence[float], y: Sequence[float], name: str, colour: str, axis: str) -> dict:
    form = ".3g" if axis == "ridge" else ".2%"
    return {
        "type": "scatter",
        "mode": "lines",
        "stackgroup": "bound",
        "name": name,
        "x": list(x),
        "y": list(y),
        "line": {"color": colour, "width": 1},
        "fillcolor": faded(colour, 0.45),
        "hovertemplate": f"{name} %{{y:{form}}} at {axis} = %{{x:.4g}}<extra></extra>",
    }


def _mark(x: float) -> dict:
    line = {"color": GREY, "width": 1.5, "dash": "dash"}
    return {"type": "line", "x0": x, "x1": x, "yref": "y domain", "y0": 0, "y1": 1, "line": line}
