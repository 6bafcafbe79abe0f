"""Shifted inputs on the Uncertainty page: computed in the background, chosen, shown."""

from functools import partial

import numpy as np
import streamlit as st

from dntk_core.cache.artifact import Artifact
from dntk_core.dashboard import cached
from dntk_core.dashboard.choices.tabs import open_tab, tab
from dntk_core.dashboard.computing import computations
from dntk_core.dashboard.computing.task import Task
from dntk_core.dashboard.drawing.inputs import show_images, show_inputs
from dntk_core.dashboard.page import Page
from dntk_core.dashboard.server.settings import settings
from dntk_core.data.inputs import IMAGE
from dntk_core.data.kinds import KINDS
from dntk_core.data.shifts import SHIFTS, STRENGTHS
from dntk_core.run.asked import known

_COLUMNS = 10
_SHIFTS = tuple(SHIFTS)
_STRENGTHS, _FIRST = tuple(map(str, STRENGTHS)), str(STRENGTHS[2])


def chosen_shift(here: Page) -> tuple[Artifact, str, int] | None:
    """Let a person choose a shift and a strength; where their gradients are not there yet, offer to compute them."""
    key = f"{here.run.key}-shifts"
    if here.run.kind != IMAGE:
        st.caption(f"There are no built-in shifts of {KINDS[here.run.kind].many}.")
        return None
    if known(here.run, "shifts") is None:
        # What the link asks for is not lost until it can be shown.
        here.link["shift"] = open_tab("shift", _SHIFTS)
        here.link["strength"] = open_tab("strength", _STRENGTHS, _FIRST)
        st.caption(
            "Test inputs are made harder by noise, blur, contrast and rotation, at five strengths each, and their "
            "gradients are computed; on digits this takes some 20 seconds."
        )
        st.button("Compute shifted inputs", on_click=_start, args=(here, key), type="primary")
        computations.follow((key,))
        return None
    computations.jobs().forget(key)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="large"):
        name = tab(here, "shift", _SHIFTS, label="Shift")
        strength = tab(here, "strength", _STRENGTHS, _FIRST, "Strength", partial(st.select_slider, width=260))
    return cached.asked(here.run.key, "shifts"), name, int(strength)


def choose_strength(point: dict) -> None:
    """Look at the strength that was clicked; 0 is no shift."""
    st.session_state["kept_strength"] = str(max(STRENGTHS[0], round(point["x"])))


def shifted_images(here: Page, artifact: Artifact, name: str) -> None:
    """A few test inputs along the axis of a shift, one row for each strength."""
    index = np.array(artifact["index"])
    n = len(index)
    first = artifact.note["names"].index(name) * len(STRENGTHS) * n
    places = np.arange(0, n, max(1, n // _COLUMNS))[:_COLUMNS]
    titles = [here.run.class_names[c] for c in here.run.test_labels[index[places]]]
    with st.container(gap="xsmall"):
        show_inputs(here.run, "test", index[places].tolist(), ["as it is"] * len(places), key="shifted_0")
        for step, strength in enumerate(STRENGTHS):
            images = artifact.rows("images")[first + step * n + places]
            show_images(images, titles, f"strength {strength}", key=f"shifted_{strength}")


def other_images(artifact: Artifact, order: np.ndarray, deviation: np.ndarray, *, key: str) -> None:
    """The least and the most certain inputs of a set that was added to the run."""
    for note, places in (("least certain", order[:_COLUMNS]), ("most certain", order[::-1][:_COLUMNS])):
        titles = [f"±{deviation[i]:.2g}" for i in places]
        show_images(artifact.rows("images")[places], titles, note, key=f"other_{key}_{note.split()[0]}")


def _start(here: Page, key: str) -> None:
    spec = here.run.spec
    task = Task(spec, "shifts", folders=settings().roots)
    computations.jobs().start(key, f"Shifted inputs of {spec.summary}", task, ("shifts",))
