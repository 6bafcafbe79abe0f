"""Runs and their live objects, shared by all sessions; keyed by content keys, never by arrays; read-only.

What is derived from a run is kept in its live object's one bounded memory, and goes with it.
"""

import streamlit as st

from dntk_core.base.errors import DNTKError, Unreadable, Vanished
from dntk_core.cache.artifact import Artifact
from dntk_core.dashboard.computing.task import Task
from dntk_core.dashboard.computing.worker import perform
from dntk_core.dashboard.server.settings import settings
from dntk_core.run.across import open_series
from dntk_core.run.analyses import live_of
from dntk_core.run.asked import known
from dntk_core.run.live import Live
from dntk_core.run.pipeline import Run, open_run
from dntk_core.run.progression import Progression
from dntk_core.run.series import find_series

# Two for Compare and a third to come back to; a run holds its kernels in memory.
_RUNS = 3


@st.cache_resource(max_entries=_RUNS, show_spinner="Opening the run")
def run(key: str) -> Run:
    """Open a finished run."""
    return open_run(key)


@st.cache_resource(max_entries=_RUNS, show_spinner="Preparing the kernels")
def live(key: str) -> Live:
    """The object that answers slider moves for a run."""
    return live_of(run(key))


@st.cache_resource(max_entries=2 * _RUNS, show_spinner=False)
def asked(key: str, stage: str) -> Artifact:
    """What is computed of a run when someone first asks for it; its files must lie where this server may read."""
    opened = run(key)
    if known(opened, stage) is None:
        perform(Task(opened.spec, stage, folders=settings().roots))
    if (found := known(opened, stage)) is None:
        raise Vanished(f"the {stage} of this run were deleted as soon as they were computed; try again")
    return found


@st.cache_resource(max_entries=2, show_spinner="Opening the series")
def _progression(key: str) -> Progression:
    series = find_series(key)
    opened = open_series(series) if series is not None else None
    if series is None or opened is None:
        raise DNTKError(f"series {key} is not finished; compute it again to resume")
    return Progression(series, *opened)


def progression(key: str) -> Progression | None:
    """A finished series, or None; what is not finished is not remembered."""
    try:
        return _progression(key)
    except Unreadable:
        raise
    except DNTKError:
        return None


def forget(key: str) -> None:
    """Let go of a run that was deleted."""
    run.clear(key)
    live.clear(key)
