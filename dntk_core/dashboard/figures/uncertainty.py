"""How sure predictors are: reliability, rejection, and what shifts of the inputs do to them."""

from collections.abc import Mapping

import numpy as np
import plotly.graph_objects as go

from dntk_core.base.numbering import number
from dntk_core.dashboard.drawing.palette import GREY, faded, series
from dntk_core.dashboard.figures.canvas import figure, log_axis, on, panels, thin
from dntk_core.run.doubt import Beliefs, Shifted
from dntk_core.uses.calibration import rejection_curve, reliability


def colours(names: Mapping[str, object]) -> dict[str, str]:
    """A colour for each predictor, the same in every figure of the page."""
    return {name: series(i) for i, name in enumerate(names)}


def diagram(beliefs: Beliefs, labels: np.ndarray) -> go.Figure:
    """Reliability of every predictor beside the accuracy on what is left after rejection."""
    shades, traces = colours(beliefs.doubt), []
    right = beliefs.logits.argmax(axis=1) == labels
    for name, p in beliefs.probabilities.items():
        found = reliability(p, labels)
        some = found.count > 0
        hover = {"hovertemplate": f"{name}: %{{y:.1%}} of %{{text}} right at %{{x:.1%}}<extra></extra>"}
        line = _line(name, found.confidence[some], found.accuracy[some], shades[name], 0, "lines+markers")
        # Bins of few inputs say little, and look it.
        sized = {"color": shades[name], "size": 3 + 1.2 * np.sqrt(found.count[some]), "opacity": 0.8}
        faint = {"color": faded(shades[name], 0.3), "width": 1}
        places = [[int(place)] for place in np.flatnonzero(some)]
        traces.append(line | hover | {"text": found.count[some], "marker": sized, "line": faint, "customdata": places})
    for name, doubt in beliefs.doubt.items():
        rejected, accuracy = rejection_curve(doubt, right)
        at = thin(len(rejected))
        named = {"showlegend": name not in beliefs.probabilities}
        traces.append(_line(name, rejected[at], accuracy[at], shades[name], 1) | named)
    even = {"type": "line", "x0": 0, "x1": 1, "y0": 0, "y1": 1, "line": {"color": GREY, "dash": "dot", "width": 1}}
    share = {"tickformat": ".0%"}
    x = [share | {"title": "probability of the chosen class"}, share | {"title": "share rejected, most doubtful first"}]
    # Of a network without errors the line is flat, and an axis of its own choice would end at 200 %.
    rest = {"tickformat": ".1~%", "title": "network's accuracy on the rest", "autorangeoptions": {"clipmax": 1.005}}
    y = [share | {"title": "share that is right"}, rest]
    layout = panels(["Reliability", "Rejection"], 2, x, y, gap=(0.12, 0))
    return figure(traces, height=380, min_width=620, shapes=[even], margin={"t": 66}, **layout)


def over_strength(found: Shifted) -> go.Figure:
    """Accuracy and fidelity, mean doubt, and how well doubt tells the shifted apart, over strengths."""
    shades, x = colours(found.doubt), found.strengths
    traces = [
        _line("network's accuracy", x, found.accuracy, "#000000", 0, "lines+markers") | {"line": {"dash": "dot"}},
        _line("kernel's fidelity", x, found.fidelity, GREY, 0, "lines+markers") | {"line": {"dash": "dash"}},
    ]
    grown = {name: doubt / (doubt[0] or 1.0) for name, doubt in found.doubt.items()}
    for name in found.doubt:
        traces.append(_line(name, x, grown[name], shades[name], 1, "lines+markers"))
        traces.append(_line(name, x, found.apart[name], shades[name], 2, "lines+markers") | {"showlegend": False})
    at = {"title": "strength", "dtick": 1}
    y = [{"tickformat": ".0%"}, log_axis(*grown.values()), {}]
    titles = ["Right, alike", "Doubt, times that of strength 0", "AUROC of telling apart"]
    layout = panels(titles, 3, [at] * 3, y, gap=(0.07, 0))
    named = {on(panel)["yaxis"]: title for panel, title in enumerate(titles)}
    traces = [trace | {"meta": {"y": named[str(trace["yaxis"])]}} for trace in traces]
    return figure(traces, height=380, min_width=760, margin={"t": 84}, **layout)


def common_bins(clean: np.ndarray, moved: np.ndarray) -> np.ndarray:
    """The edges of bins that hold both, (31,)."""
    return np.histogram_bin_edges(np.append(clean, moved), bins=30)


def histograms(clean: np.ndarray, moved: np.ndarray, title: str, other: str) -> go.Figure:
    """Doubt of the test inputs against that of others, on common bins."""
    edges = common_bins(clean, moved)
    centres = (edges[1:] + edges[:-1]) / 2
    traces = [
        {
            "type": "bar",
            "name": name,
            "x": centres,
            "y": np.histogram(values, edges)[0] / max(1, len(values)),
            "marker": {"color": series(i)},
            "opacity": 0.65,
            "customdata": [[side, number(place)] for place in range(len(centres))],
            "hovertemplate": f"%{{y:.1%}} of {name} near %{{x:.3g}}<extra></extra>",
        }
        for i, (side, name, values) in enumerate((("test", "test inputs", clean), ("others", other, moved)))
    ]
    y = {"tickformat": ".0%", "title": "share of inputs"}
    return figure(traces, height=260, barmode="overlay", bargap=0.05, xaxis={"title": title}, yaxis=y)


def _line(name: str, x: np.ndarray, y: np.ndarray, colour: str, panel: int, mode: str = "lines") -> dict:
    return {
        "type": "scatter",
        "mode": mode,
        "name": name,
        "legendgroup": name,
        "x": x,
        "y": y,
        "line": {"color": colour, "width": 2},
        "marker": {"size": 5, "color": colour},
        "hovertemplate": f"{name}: %{{y:.3g}} at %{{x:.3g}}<extra></extra>",
        **on(panel),
    }
