"""Groups of parameters: what each brings to the kernel, and how alike they are."""

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from dntk_core.dashboard.drawing import literal
from dntk_core.dashboard.drawing.palette import BLUE, GREEN, GREY, ORANGE, SEQUENTIAL, VERMILION
from dntk_core.dashboard.figures.canvas import PERCENT, colorbar, figure, on, panels
from dntk_core.run.layers import Layers

# The accuracy of a kernel without one group.
BUT = "all but it"
WITHOUT = f"accuracy {BUT}"
# Pixels of one group, and of all that is not groups.
ROW, REST = 24, 120


def shares(found: Layers) -> go.Figure:
    """Per group: shares of trace and fit, likeness with the whole and with labels, accuracy alone and without."""
    names = shown(found)
    measures: tuple[tuple[str, dict[str, tuple[np.ndarray, str]], str], ...] = (
        ("Share of", {"trace": (found.trace, BLUE), "fit": (found.fit, ORANGE)}, ".1%"),
        (
            "Likeness with",
            {"the whole": (found.whole, BLUE), "outputs": (found.targets, ORANGE), "labels": (found.labels, GREEN)},
            ".2f",
        ),
        ("Accuracy", {"alone": (found.alone, BLUE), BUT: (found.without, VERMILION)}, ".1%"),
    )
    bar = {"type": "bar", "orientation": "h"}
    # Accuracies often differ by a few points: as points, their axis need not begin at 0.
    point = {"type": "scatter", "mode": "markers", "cliponaxis": False}
    traces = [
        {
            **(point if title == "Accuracy" else bar),
            "name": f"{title.lower()} {name}",
            "showlegend": False,
            "x": values,
            "y": names,
            "marker": {"color": colour, **({"size": 11, "opacity": 0.85} if title == "Accuracy" else {})},
            "hovertemplate": f"%{{y}}: {title.lower()} {name} %{{x:{form}}}<extra></extra>",
            "meta": {"x": f"{title.lower()} {name}", "y": "group"},
            **on(panel),
        }
        for panel, (title, lines, form) in enumerate(measures)
        for name, (values, colour) in lines.items()
    ]
    titles = [
        f"{title}<br>"
        + " · ".join(f'<span style="color:{colour}">{name}</span>' for name, (_, colour) in lines.items())
        for title, lines, _ in measures
    ]
    least = min(0.0, float(found.labels.min()), float(found.targets.min()))
    x = [{"tickformat": PERCENT}, {"range": [least, 1.02]}, {"tickformat": PERCENT}]
    # Bars and points of a group stand in one row.
    groups = {"type": "category", "range": [len(names) - 0.5, -0.5]}
    y = [groups | {"showticklabels": i == 0, "showgrid": i == 2} for i in range(3)]
    axis = on(2)
    ends = {
        "x0": found.full,
        "x1": found.full,
        "y0": 0,
        "y1": 1,
        "xref": axis["xaxis"],
        "yref": f"{axis['yaxis']} domain",
    }
    line = {"type": "line", "line": {"color": GREY, "width": 1.5, "dash": "dash"}} | ends
    layout = panels(titles, 3, x, y, gap=(0.04, 0))
    layout["annotations"] = [note | {"align": "left"} for note in layout["annotations"]]
    return figure(
        traces,
        height=REST + 2 * ROW * len(names),
        min_width=640,
        barmode="group",
        bargap=0.25,
        shapes=[line],
        margin={"l": 120, "t": 56},
        **layout,
    )


def between(found: Layers) -> go.Figure:
    """CKA of every two groups."""
    names = shown(found)
    heat = {
        "type": "heatmap",
        "x": names,
        "y": names,
        "z": found.between,
        "colorscale": SEQUENTIAL,
        "texttemplate": "%{z:.2f}" if len(names) <= 14 else "",
        "colorbar": colorbar("CKA"),
        "hovertemplate": "%{y} and %{x}: CKA %{z:.3f}<extra></extra>",
        "meta": {"x": "other group", "y": "group", "z": "CKA"},
    }
    plain = {"type": "category", "showgrid": False}
    return figure(
        [heat],
        height=REST + ROW * len(names),
        margin={"l": 120},
        xaxis=plain,
        yaxis=plain | {"autorange": "reversed"},
    )


def shown(found: Layers) -> Sequence[str]:
    """What groups are called in a figure."""
    return [literal.plotly(columns.group) for columns in found.columns]
