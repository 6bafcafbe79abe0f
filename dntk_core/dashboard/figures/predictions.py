"""One prediction: its logits by whoever makes them, who speaks for and against it, the synthetic gradients at work."""

from collections.abc import Iterable, Sequence

import numpy as np
import plotly.graph_objects as go

from dntk_core.base.numbering import number
from dntk_core.dashboard.drawing import literal
from dntk_core.dashboard.drawing.palette import BLUE, GREEN, GREY, ORANGE, VERMILION
from dntk_core.dashboard.figures.canvas import figure
from dntk_core.run.insight import Explanation

# Classes whose scores are drawn beside each other.
CLASSES = 20
COLOURS = {"network": GREY, "full kernel": BLUE, "distilled kernel": ORANGE}


def _largest(rows: Iterable[np.ndarray | None], label: int) -> list[int]:
    """All classes; of many, the label and those to which anyone gives most, in their order."""
    most = np.max([row for row in rows if row is not None], axis=0)
    if len(most) <= CLASSES:
        return list(range(len(most)))
    return sorted({label, *map(int, np.argsort(-most)[: CLASSES - 1])})


def logits(found: Explanation, names: Sequence[str], label: int, scaled: bool) -> go.Figure:
    """Grouped bars, one group per class; the label's class is named so. `scaled`: targets were labels, not logits."""
    rows = {"network": found.network, "full kernel": found.full, "distilled kernel": found.distilled}
    shown = _largest(rows.values(), label)
    classes = [f"{literal.plotly(names[c])}{' (label)' if c == label else ''}" for c in shown]
    traces = [
        {
            "type": "bar",
            "name": name,
            "x": classes,
            "y": np.asarray(values)[shown],
            "marker": {"color": COLOURS[name]},
            "customdata": [[c] for c in shown],
            "hovertemplate": f"{name}: %{{y:.3g}} for %{{x}}<extra></extra>",
        }
        for name, values in rows.items()
        if values is not None and not (scaled and name == "network")
    ]
    y = {"title": "score of a label" if scaled else "logit", "zeroline": True}
    return figure(traces, height=260, barmode="group", xaxis={"type": "category", "title": "class"}, yaxis=y)


def speakers(
    found: Explanation, labels: np.ndarray, names: Sequence[str], count: int, title: str, adds_up: bool
) -> go.Figure:
    """Horizontal bars: the strongest kernel inputs on each side, all others as one and, where they add up, the sum."""
    for_, against, rest = found.speakers(count)
    inputs = [*map(int, for_), *map(int, against[::-1])]
    bars = [(f"input {number(i)} · {literal.plotly(names[int(labels[i])])}", float(found.values[i])) for i in inputs]
    bars.insert(len(for_), (f"{len(found.values) - len(inputs):,} others together", rest))
    if adds_up:
        bars.append(("prediction", found.prediction))
    titles, values = [title for title, _ in bars], [value for _, value in bars]
    # What a bar opens: an input by its number, or nothing.
    numbers = [number(i) for i in inputs]
    numbers.insert(len(for_), 0)
    colours = [GREY if i == len(for_) else BLUE if value > 0 else VERMILION for i, value in enumerate(values)]
    if adds_up:
        colours[-1] = GREEN
    bar = {
        "type": "bar",
        "orientation": "h",
        "x": values,
        "y": titles,
        "marker": {"color": colours},
        "customdata": [[n] for n in [*numbers, *([0] if adds_up else [])]],
        "hovertemplate": "%{y}: %{x:.4g}<extra></extra>",
        "showlegend": False,
    }
    # The table's column needs a name, the axis none beside its words.
    bar["meta"] = {"y": "input"}
    y = {"autorange": "reversed", "type": "category"}
    room = {"l": 150, "t": 8}
    return figure([bar], height=90 + 20 * len(bars), margin=room, xaxis={"zeroline": True, "title": title}, yaxis=y)


def synthetic(values: np.ndarray, titles: Sequence[str], prediction: float) -> go.Figure:
    """Bars: what each synthetic gradient adds to the prediction."""
    bar = {
        "type": "bar",
        "x": list(range(1, len(values) + 1)),
        "y": values,
        "text": list(titles),
        "textposition": "none",
        "marker": {"color": [BLUE if value > 0 else VERMILION for value in values]},
        "hovertemplate": "gradient %{x} (%{text}): %{y:.4g}<extra></extra>",
        "showlegend": False,
    }
    x = {
        "title": f"synthetic gradient; together {prediction:.3g}",
        "type": "linear",
        "dtick": max(1, len(values) // 20),
    }
    return figure([bar], height=240, margin={"t": 8}, xaxis=x, yaxis={"title": "contribution", "zeroline": True})
