"""Two figures of one kind made comparable: the same range on every axis, the same colours."""

from typing import Any

import numpy as np
import plotly.graph_objects as go


def share_axes(one: go.Figure, other: go.Figure) -> None:
    """Give each pair of axes of two figures of one kind the range that holds the data of both."""
    _share_colours(one, other)
    for name in _axes(one) & _axes(other) - _square(one):
        axes: list[Any] = [figure.layout[name] for figure in (one, other)]
        if any(axis.type == "category" or axis.autorange == "reversed" for axis in axes):
            continue
        first, second = (_range(figure, name) for figure in (one, other))
        if first is None or second is None or first == second:
            continue
        (low, high), (bottom, top) = first, second
        # An axis that points down stays so.
        both = [min(low, bottom), max(high, top)] if low <= high else [max(low, bottom), min(high, top)]
        for axis in axes:
            axis.range = both


def _share_colours(one: go.Figure, other: go.Figure) -> None:
    """Give heatmaps that lie at the same place in both figures one scale."""
    for left, right in zip(one.data, other.data, strict=False):
        pair: tuple[Any, Any] = left, right
        if any(trace.type != "heatmap" or trace.coloraxis or trace.zmin is not None for trace in pair):
            continue
        values = np.concatenate([np.ravel(np.asarray(trace.z, float)) for trace in pair])
        for trace in pair:
            trace.zmin, trace.zmax = float(np.nanmin(values)), float(np.nanmax(values))


def _square(figure: go.Figure) -> set[str]:
    """Axes of a square picture: a longer one would leave it in a corner."""
    layout: Any = figure.layout
    tied = {name: layout[name].scaleanchor for name in _axes(figure) if layout[name].scaleanchor}
    return set(tied) | {f"{to[0]}axis{to[1:]}" for to in tied.values()}


def _axes(figure: go.Figure) -> set[str]:
    return {name for name in figure.layout if name[1:5] == "axis"}


def _range(figure: go.Figure, name: str) -> tuple[float, float] | None:
    """The range that an axis is given, else that of its data with some room."""
    axis: Any = figure.layout[name]
    traces: Any = figure.data
    if axis.range is not None:
        return float(axis.range[0]), float(axis.range[1])
    letter, reference = name[0], name[0] + name[5:]
    found = [np.ravel(_data(trace, letter)) for trace in traces if (trace[f"{letter}axis"] or letter) == reference]
    values = np.concatenate(found) if found else np.array([])
    values = values[np.isfinite(values)]
    if axis.type == "log":
        values = np.log10(values[values > 0])
    if not len(values):
        return None
    low, high = float(values.min()), float(values.max())
    if axis.rangemode == "tozero" or any(trace.type == "bar" for trace in traces):
        low, high = (low, high) if axis.type == "log" else (min(low, 0.0), max(high, 0.0))
    room = 0.04 * (high - low)
    return low - room * (low != 0), high + room


def _data(trace: Any, letter: str) -> np.ndarray:
    """A trace's numbers along an axis; bars lie on each other where they are stacked, and those are left alone."""
    try:
        return np.array([value for value in trace[letter] if value is not None], float)
    except (TypeError, ValueError):
        return np.array([])
