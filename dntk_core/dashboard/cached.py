"""Runs and their live objects, shared by all sessions; keyed by content keys, never by arrays; read-only.

What is derived from a run is kept in its live object's one bounded memory, and goes with it.
"""

import streamlit as st

from dntk_core.run.live import Live
from dntk_core.run.pipeline import Run, open_run

# Two for Compare and a third to come back to; a run holds its kernels in memory.
_RUNS = 3


@st.cache_resource(max_entries=_RUNS, show_spinner="Opening the run")
def run(key: str) -> Run:
    """Open a finished run."""
    return open_run(key)


@st.cache_resource(max_entries=_RUNS, show_spinner="Preparing the kernels")
def live(key: str) -> Live:
    """The object that answers slider moves for a run."""
    return Live(run(key).problem)


def forget(key: str) -> None:
    """Let go of a run that was deleted."""
    run.clear(key)
    live.clear(key)
