"""What a kernel costs, three ways side by side."""

from math import log10

import plotly.graph_objects as go

from dntk_core.dashboard.figures.canvas import figure, on, panels
from dntk_core.dashboard.palette import BLUE, GREY, ORANGE
from dntk_core.run.ledger import Ledger

WAYS = {"naive": ("naive NTK", GREY), "projected": ("projected", ORANGE), "dntk": ("DNTK", BLUE)}
QUANTITIES = {"jacobians": "Jacobians", "flops": "FLOPs", "bytes": "bytes held"}


def ledgers(rows: dict[str, Ledger]) -> go.Figure:
    """One row of panels per ledger: Jacobians, FLOPs and bytes of each way, on a log axis."""
    cells = [(name, ledger, quantity) for name, ledger in rows.items() for quantity in QUANTITIES]
    titles = [f"{name}: {QUANTITIES[quantity]}" for name, _, quantity in cells]
    log = {"type": "log", "dtick": 1, "showticklabels": False}
    x = [log | {"range": _range(ledger, quantity)} for _, ledger, quantity in cells]
    y = [
        {"autorange": "reversed", "showgrid": False, "showticklabels": i % len(QUANTITIES) == 0}
        for i in range(len(cells))
    ]
    layout = panels(titles, len(QUANTITIES), x, y, gap=(0.03, 0.22))
    bars = [bar for i, (_, ledger, quantity) in enumerate(cells) for bar in _bars(ledger, quantity, i)]
    height, margin = 130 * len(rows) + 10, {"l": 76, "b": 8}
    return figure(bars, height, margin, min_width=680, showlegend=False, bargap=0.25, **layout)


def _bars(ledger: Ledger, quantity: str, panel: int) -> list[dict]:
    return [
        {
            "type": "bar",
            "orientation": "h",
            "name": label,
            "x": [float(getattr(getattr(ledger, way), quantity))],
            "y": [label],
            "text": [_number(getattr(getattr(ledger, way), quantity))],
            "textposition": "outside",
            "cliponaxis": False,
            "marker": {"color": colour},
            "hovertemplate": f"{label}: %{{x:.3g}} {QUANTITIES[quantity]}<extra></extra>",
            **on(panel),
        }
        for way, (label, colour) in WAYS.items()
    ]


def _number(value: float) -> str:
    """A count for people: 1,297 or 2.7×10¹²."""
    if value < 1e5:
        return f"{value:,.0f}"
    power = int(log10(value))
    return f"{value / 10**power:.1f}×10<sup>{power}</sup>"


def _range(ledger: Ledger, quantity: str) -> list[float]:
    """Decades from one below the least to some above the most, where its number is written."""
    values = [log10(getattr(getattr(ledger, way), quantity)) for way in WAYS]
    low = min(values) - 1
    return [low, low + 1.35 * (max(values) - low)]
