"""One figure with all that belongs beside it: how to read it, its definition, its downloads."""

from collections.abc import Callable
from dataclasses import dataclass

import plotly.graph_objects as go
import streamlit as st

from dntk_core.dashboard.drawing.plot import payload, plot


@dataclass(frozen=True)
class Panel:
    """A figure and what is written beside it.

    key:        names the figure on its page and its files; unique in the whole dashboard
    title:      a few words, plain text
    read:       one sentence on how to read the figure, plain text; also for screen readers
    definition: what is drawn, exactly, in Markdown with LaTeX
    click:      what a click does, for pages; nothing that is printed can be clicked
    """

    key: str
    figure: go.Figure
    title: str
    read: str
    definition: str
    click: str = ""

    @property
    def said(self) -> str:
        """What stands above the figure on a page."""
        return f"{self.read} {self.click}".strip()


def show(panel: Panel, on_click: Callable[[dict], None] | None = None) -> None:
    """Draw a panel; SVG, PNG and CSV are offered below its figure."""
    # Title and sentence are the figure's own: every element is sent and drawn anew at every slider move.
    with st.container(gap=None, key=f"panel_{panel.key}"):
        with st.popover("Definition", type="tertiary", key=f"{panel.key}_definition"):
            st.markdown(panel.definition)
        plot(panel.figure, key=panel.key, title=panel.title, read=panel.said, on_click=on_click)


def sent(panel: Panel) -> bytes:
    """A panel as `show` sends it to the browser."""
    return payload(panel.figure, title=panel.title, read=panel.said, name=panel.key)
