"""A series of checkpoints: numbers over training, kernels against each other, tangents, spectra."""

from collections.abc import Mapping, Sequence

import numpy as np
import plotly.graph_objects as go

from dntk_core.dashboard.drawing import literal
from dntk_core.dashboard.drawing.palette import BLUE, GREEN, GREY, ORANGE, SEQUENTIAL, VERMILION, faded
from dntk_core.dashboard.figures.canvas import colorbar, figure, log_axis, marked, on, panels, powers, thin

# A line: name, places, values.
Line = tuple[str, np.ndarray, np.ndarray]
COLOURS = (BLUE, VERMILION, GREEN, ORANGE)


def over_time(
    measures: Mapping[str, Sequence[Line]], formats: Mapping[str, str], at: float, unit: str, log: Sequence[str] = ()
) -> go.Figure:
    """Small multiples over training, one per measure, each of a few named lines; `at` is marked in all of them."""
    traces, columns = [], 3
    for panel, (title, lines) in enumerate(measures.items()):
        for (name, x, y), colour in zip(lines, COLOURS, strict=False):
            traces.append(
                {
                    "type": "scatter",
                    "mode": "lines+markers",
                    "name": name,
                    "x": x,
                    "y": y,
                    "line": {"color": colour, "width": 2},
                    "marker": {"size": 6},
                    "showlegend": False,
                    "hovertemplate": f"{name}: %{{y:{formats[title]}}} at {unit} %{{x:g}}<extra></extra>",
                    "meta": {"x": unit, "y": title},
                    **on(panel),
                }
            )
    rows = -(-len(measures) // columns)
    x = [{"title": unit if panel >= len(measures) - columns else ""} for panel in range(len(measures))]
    y = [
        log_axis(*(values for _, _, values in lines)) if title in log else {"tickformat": f"{_ticks(formats[title])}"}
        for title, lines in measures.items()
    ]
    titles = [_coloured(title, [name for name, _, _ in lines]) for title, lines in measures.items()]
    shapes = [_line_at(at, panel) for panel in range(len(measures))]
    layout = panels(titles, columns, x, y, gap=(0.08, 0.28))
    # Of two lines the second begins below the first.
    layout["annotations"] = [note | {"align": "left"} for note in layout["annotations"]]
    return figure(traces, height=60 + 230 * rows, min_width=760, shapes=shapes, margin={"t": 56}, **layout)


def matrices(found: Mapping[str, np.ndarray], labels: Sequence[str], at: int, axes: tuple[str, str]) -> go.Figure:
    """Checkpoint × checkpoint, a heatmap for each of one or two measures; the row looked at is framed."""
    names = [literal.plotly(label) for label in labels]
    traces = []
    for panel, (title, values) in enumerate(found.items()):
        traces.append(
            {
                "type": "heatmap",
                "x": names,
                "y": names,
                "z": values,
                "colorscale": SEQUENTIAL,
                "zmin": 0,
                "zmax": 1,
                "showscale": panel == len(found) - 1,
                "colorbar": colorbar(""),
                "texttemplate": "%{z:.2f}" if len(names) <= 12 else "",
                "name": title,
                "meta": {"x": axes[1], "y": axes[0], "z": title},
                "hovertemplate": f"{title} of %{{y}} and %{{x}}: %{{z:.3f}}<extra></extra>",
                **on(panel),
            }
        )
    plain = {"type": "category", "showgrid": False}
    x = [plain | {"title": axes[1]} for _ in found]
    y = [plain | {"autorange": "reversed", "title": axes[0] if panel == 0 else ""} for panel in range(len(found))]
    layout = panels(list(found), len(found), x, y, gap=(0.12, 0))
    drawn = figure(traces, height=420, min_width=420 * len(found), margin={"l": 84, "b": 84}, **layout)
    frame = {"x0": -0.5, "x1": len(names) - 0.5, "y0": at - 0.5, "y1": at + 0.5}
    return marked(drawn, *(frame | {"xref": on(p)["xaxis"], "yref": on(p)["yaxis"]} for p in range(len(found))))


def tangents(
    times: np.ndarray, measures: Mapping[str, Mapping[str, np.ndarray]], shares: Sequence[str], unit: str
) -> go.Figure:
    """How far the tangents at some checkpoints predict the others, a panel per measure: errors, and some are shares."""
    traces, even = [], {"type": "line", "x0": 0, "x1": 1, "y0": 1, "y1": 1}
    for panel, (title, found) in enumerate(measures.items()):
        for (name, values), colour in zip(found.items(), COLOURS, strict=False):
            traces.append(
                {
                    "type": "scatter",
                    "mode": "lines+markers",
                    "name": name,
                    "legendgroup": name,
                    "showlegend": panel == 0,
                    "x": times,
                    "y": values,
                    "line": {"color": colour, "width": 2},
                    "marker": {"size": 6},
                    "hovertemplate": f"{name}: %{{y:.3g}} at {unit} %{{x:g}}<extra></extra>",
                    "meta": {"x": unit, "y": title},
                    **on(panel),
                }
            )
    y = [{"tickformat": ".3~%"} if title in shares else {"rangemode": "tozero"} for title in measures]
    layout = panels(list(measures), len(measures), [{"title": unit}] * len(measures), y, gap=(0.08, 0))
    shapes = [
        even
        | {"line": {"color": GREY, "dash": "dot", "width": 1}}
        | {"xref": f"{on(panel)['xaxis']} domain", "yref": on(panel)["yaxis"]}
        for panel, title in enumerate(measures)
        if title not in shares
    ]
    return figure(traces, height=320, min_width=280 * len(measures), shapes=shapes, margin={"t": 56}, **layout)


def spectra(values: np.ndarray, labels: Sequence[str], at: int) -> go.Figure:
    """Eigenvalues (T, q) of every checkpoint's kernel over their index, the one looked at in front."""
    traces = []
    for t in sorted(range(len(values)), key=lambda t: t == at):
        kept = max(1, int(np.sum(values[t] > 1e-10 * max(values[t][0], np.finfo(float).tiny))))
        places = thin(kept)
        share = t / max(len(values) - 1, 1)
        traces.append(
            {
                "type": "scatter",
                "mode": "lines",
                "name": literal.plotly(labels[t]),
                "legendrank": t,
                "x": places + 1,
                "y": values[t][places],
                "line": {
                    "color": VERMILION if t == at else faded(BLUE, 0.25 + 0.6 * share),
                    "width": 3 if t == at else 1.5,
                },
                "hovertemplate": f"{literal.plotly(labels[t])}: λ<sub>%{{x}}</sub> = %{{y:.3g}}<extra></extra>",
                "meta": {"x": "index i", "y": "eigenvalue"},
            }
        )
    y = powers() | {"title": "eigenvalue λ<sub>i</sub>"}
    return figure(traces, height=420, margin={"l": 64}, xaxis={"title": "index i"}, yaxis=y)


def _coloured(title: str, names: Sequence[str]) -> str:
    """A panel's title, and below it the names of its lines in their colours, if there are several."""
    if len(names) < 2:
        return title
    numbers = " · ".join(
        f'<span style="color:{colour}">{name}</span>' for name, colour in zip(names, COLOURS, strict=False)
    )
    return f"{title}<br>{numbers}"


def _ticks(form: str) -> str:
    return ".3~%" if form.endswith("%") else "~g"


def _line_at(x: float, panel: int) -> dict:
    axes = on(panel)
    ends = {"x0": x, "x1": x, "y0": 0, "y1": 1, "xref": axes["xaxis"], "yref": f"{axes['yaxis']} domain"}
    return {"type": "line", "line": {"color": GREY, "width": 1.5, "dash": "dash"}} | ends
