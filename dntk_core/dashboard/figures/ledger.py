"""What a kernel costs, three ways side by side, as the paper counts and with everything."""

from math import floor, log10

import plotly.graph_objects as go

from dntk_core.dashboard.drawing.palette import BLUE, GREY, ORANGE
from dntk_core.dashboard.figures.canvas import figure, on, panels
from dntk_core.run.ledger import Counts, Ledger

WAYS = {"naive": ("naive NTK", GREY), "projected": ("projected", ORANGE), "dntk": ("DNTK", BLUE)}
# Title, quantity of a cost, which count.
COLUMNS = (
    ("Jacobians", "jacobians", "everything"),
    ("FLOPs, as the paper counts", "flops", "paper"),
    ("FLOPs, everything", "flops", "everything"),
    ("Bytes, as the paper counts", "bytes", "paper"),
    ("Bytes, everything", "bytes", "everything"),
)


def ledgers(rows: dict[str, Counts]) -> go.Figure:
    """One row of panels per run: Jacobians, then FLOPs and bytes counted both ways, on log axes."""
    cells = [
        (name, title, getattr(counts, count), quantity)
        for name, counts in rows.items()
        for title, quantity, count in COLUMNS
    ]
    titles = [f"{title}<br>{_saving(ledger.saving(quantity))}" for _, title, ledger, quantity in cells]
    log = {"type": "log", "dtick": 1, "showticklabels": False}
    x = [log | {"range": _range(ledger, quantity)} for _, _, ledger, quantity in cells]
    y = [
        {
            "autorange": "reversed",
            "showgrid": False,
            "showticklabels": first,
            "title": f"<b>{name}</b>" if first else "",
        }
        for i, (name, *_) in enumerate(cells)
        for first in [i % len(COLUMNS) == 0]
    ]
    layout = panels(titles, len(COLUMNS), x, y, gap=(0.02, 0.3), widths=[0.8, 1, 1, 1, 1])
    for title in layout["annotations"]:
        title["align"] = "left"
    bars = [bar for i, cell in enumerate(cells) for bar in _bars(*cell, panel=i)]
    height, margin = 150 * len(rows) + 30, {"l": 96, "t": 44, "b": 8}
    return figure(bars, height, margin, min_width=840, showlegend=False, bargap=0.25, **layout)


def _bars(run: str, title: str, ledger: Ledger, quantity: str, panel: int) -> list[dict]:
    return [
        {
            "type": "bar",
            "orientation": "h",
            "name": label,
            "x": [float(getattr(getattr(ledger, way), quantity))],
            "y": [label],
            "text": [number(getattr(getattr(ledger, way), quantity))],
            "textposition": "outside",
            "cliponaxis": False,
            "marker": {"color": colour},
            "meta": {"series": run, "x": title, "y": "way"},
            "hovertemplate": f"{label}: %{{x:.3g}} {quantity}<extra></extra>",
            **on(panel),
        }
        for way, (label, colour) in WAYS.items()
    ]


def number(value: float) -> str:
    """A count for people.

    >>> number(1297), number(2.66e12)
    ('1,297', '2.7×10<sup>12</sup>')
    """
    if value < 1e5:
        return f"{value:,.0f}"
    power = floor(log10(value))
    return f"{value / 10**power:.1f}×10<sup>{power}</sup>"


def _saving(times: float) -> str:
    if times < 1.5:
        return f"DNTK takes {1 / times:.1f} × as much"
    return f"DNTK takes {number(times) if times >= 10 else f'{times:.1f}'} × less"


def _range(ledger: Ledger, quantity: str) -> list[float]:
    """Decades from one below the least to some above the most, where its number is written."""
    values = [log10(getattr(getattr(ledger, way), quantity)) for way in WAYS]
    low = min(values) - 1
    return [low, low + 1.6 * (max(values) - low)]
