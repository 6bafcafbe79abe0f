"""Training: the kernel from initialisation to the end, scrubbed by a slider; the network against its tangents."""

from functools import partial

import streamlit as st

from dntk_core.dashboard.asking.opened import opened
from dntk_core.dashboard.choices.picks import on_click
from dntk_core.dashboard.computing.following import ask_checkpoint, choose_checkpoint, chosen_series
from dntk_core.dashboard.drawing.panel import show
from dntk_core.dashboard.drawing.recipe import copy_recipe
from dntk_core.dashboard.page import follow, page
from dntk_core.dashboard.sections import training


def clicked(point: dict) -> None:
    """Look at the checkpoint that was clicked."""
    if found is not None:
        choose_checkpoint(training.checkpoint_at(found, point))


with page(training.TITLE, uses=("kernel", "epsilon", "ridge", "H")) as here:
    found = chosen_series(here, training.known(here), training.offered(here))
    if found is not None:
        st.caption(found.series.title)
        ask_checkpoint(here, found)
        with st.spinner("Following the kernel", show_time=True):
            over, pairs, tangent, decay, picture = follow(here, partial(training.chosen, found=found))
        for panel in (over, pairs, tangent):
            show(panel, on_click=clicked)
        left, right = st.columns(2, gap="medium")
        with left:
            show(decay, on_click=clicked)
        with right:
            show(picture, on_click=on_click(lambda point: training.pick_at(here, picture.key, point)))
        opened(here)
        copy_recipe(here, *training.calls(found), command=training.command(found))
