"""A figure with its title and one sentence, updated in place: a small component around the installed plotly.js."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import plotly.graph_objects as go
import streamlit as st
from streamlit.components.v2 import component

from dntk_core.dashboard.drawing import library

_HTML = """
<h4 class="dntk-title"></h4>
<p class="dntk-read"></p>
<div class="dntk-scroll"><div class="dntk-plot" role="img"></div></div>
<div class="dntk-save">
  <button data-format="svg" title="Download the picture as SVG">SVG</button>
  <button data-format="png" title="Download the picture as PNG">PNG</button>
  <button data-format="csv" title="Download the data as CSV">CSV</button>
</div>
"""
_CSS = """
.dntk-title { font-size: 1.05rem; font-weight: 600; margin: 0; padding: 0.4rem 7rem 0.4rem 0; }
.dntk-read { color: var(--st-text-color); opacity: 0.6; font-size: 0.875rem; margin: 0 0 0.5rem; }
.dntk-scroll { overflow-x: auto; overflow-y: hidden; }
.dntk-plot { width: 100%; }
.dntk-plot:not([data-drawn]) { background: var(--st-secondary-background-color); border-radius: 8px; }
.dntk-save { display: flex; justify-content: flex-end; height: 24px; }
.dntk-save button {
  background: none; border: none; border-radius: 4px; cursor: pointer; padding: 2px 8px;
  color: var(--st-text-color); opacity: 0.65; font: 12px var(--st-font);
}
.dntk-save button:hover, .dntk-save button:focus-visible {
  opacity: 1; background: var(--st-secondary-background-color);
}
"""
_render = component(
    "dntk_plot",
    html=_HTML,
    css=_CSS,
    js=Path(__file__).with_name("plot.js").read_text(encoding="utf-8"),
    isolate_styles=False,
)


def plot(figure: go.Figure, *, key: str, title: str, read: str, on_click: Callable[[dict], None] | None = None) -> None:
    """Draw `figure`, or update the one already drawn under `key`; a click calls `on_click` with the point.

    title, read: plain text above the figure, and the figure itself for screen readers
    """

    listeners: dict[str, Any] = {}
    if on_click:
        listeners["on_click_change"] = lambda: on_click(st.session_state[key]["click"])
    _render(key=key, data=payload(figure, title=title, read=read, name=key), **listeners)


def payload(figure: go.Figure, *, title: str, read: str, name: str) -> bytes:
    """What the browser gets, as JSON: the figure, what stands above it, its file name, where plotly.js is."""
    head = json.dumps({"plotly": library.address(), "title": title, "read": read, "name": name})
    return f'{head[:-1]}, "figure": {figure.to_json(validate=False)}}}'.encode()
