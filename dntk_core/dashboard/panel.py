"""One figure with all that belongs beside it: how to read it, its definition, its downloads."""

from collections.abc import Callable
from dataclasses import dataclass

import plotly.graph_objects as go
import streamlit as st

from dntk_core.dashboard.plot import plot


@dataclass(frozen=True)
class Note:
    """What is written beside a figure: title, one sentence on how to read it, definition in Markdown with LaTeX."""

    title: str
    read: str
    definition: str


def panel(figure: go.Figure, note: Note, *, key: str, on_click: Callable[[dict], None] | None = None) -> None:
    """Draw `figure` under its title; SVG, PNG and CSV are offered below it. `key` also names the files."""
    with st.container(gap="xsmall"):
        with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
            st.markdown(f"#### {note.title}", width="content")
            with st.popover("Definition", type="tertiary", key=f"{key}_definition"):
                st.markdown(note.definition)
        st.caption(note.read)
        plot(figure, key=key, alt=f"{note.title}. {note.read}", on_click=on_click)
