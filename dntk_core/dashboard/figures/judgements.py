"""What every selection of images misses of the real images' gradients."""

from collections.abc import Sequence

import plotly.graph_objects as go

from dntk_core.dashboard.drawing import literal
from dntk_core.dashboard.drawing.palette import BLUE, GREY, ORANGE, VERMILION
from dntk_core.dashboard.figures.canvas import PERCENT, figure, on, panels
from dntk_core.dataset.judgement import Judgement
from dntk_core.dataset.tangent import Capture

# Panels of the judgements: four energies by their field, then two errors.
ENERGIES = {
    "Class kernels, real inputs": "classes",
    "Class kernels, held-out inputs": "classes_held_out",
    "V(D̃), real inputs": "stacked",
    "V(D̃), held-out inputs": "stacked_held_out",
}
TITLES = (*ENERGIES, "Kernel error and its bound", "Loss gradients left out")


def judgements(found: Sequence[Judgement], needed: int = 0) -> go.Figure:
    """What every selection misses: tail and misalignment, four ways; kernel error and bound; loss residual.

    needed: dimensions that some of it needs at least
    """
    names = [literal.plotly(each.name) for each in found]
    traces = []
    for panel, part in enumerate(ENERGIES.values()):
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
                "meta": {"x": "bound", "y": "selection"},
                "hovertemplate": "%{y}: bound %{x:.1%}<extra></extra>",
                **on(4),
            }
        )
    steps = [each.step for each in found if each.step]
    if len(steps) == len(found):
        shares = [each.residual / each.gradient for each in steps]
        traces.append(_bars("loss residual", shares, names, 5, VERMILION, [f"{share:.2%}" for share in shares]))
    titles = list(TITLES)
    for panel, title in enumerate(titles):
        if not any(trace["xaxis"] == on(panel)["xaxis"] for trace in traces):
            titles[panel] = f"{title}:<br>needs k > {needed:,}"
    x = [{"tickformat": PERCENT, "rangemode": "tozero", "nticks": 5}] * 4
    x += [{"type": "log", "tickformat": PERCENT, "dtick": 1}, x[0]]
    y = [
        {"type": "category", "autorange": "reversed", "showticklabels": i % 2 == 0, "showgrid": False} for i in range(6)
    ]
    layout = panels(titles, 2, x, y, gap=(0.04, 0.11))
    return figure(
        traces,
        height=190 + 75 * len(names),
        min_width=620,
        barmode="relative",
        bargap=0.3,
        margin={"l": 120, "t": 44},
        **layout,
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
        "meta": {"series": TITLES[panel], "x": f"{name}, share", "y": "selection"},
        "hovertemplate": f"%{{y}}: {name} %{{x:.3%}}<extra></extra>",
    } | on(panel)
