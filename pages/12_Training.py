"""Training: the kernel from initialisation to the end, scrubbed by a slider; the network against its tangents."""

from functools import partial

import streamlit as st

from dntk_core.dashboard.computing.following import ask_checkpoint, chosen_series
from dntk_core.dashboard.drawing.panel import show
from dntk_core.dashboard.drawing.recipe import copy_recipe
from dntk_core.dashboard.page import follow, page
from dntk_core.dashboard.sections import training

with page(training.TITLE, uses=("kernel", "epsilon", "ridge", "H")) as here:
    found = chosen_series(here, training.known(here), training.offered(here))
    if found is not None:
        st.caption(found.series.title)
        ask_checkpoint(here, found)
        with st.spinner("Following the kernel", show_time=True):
            over, pairs, tangent, decay, picture = follow(here, partial(training.chosen, found=found))
        show(over)
        show(pairs)
        show(tangent)
        left, right = st.columns(2, gap="medium")
        with left:
            show(decay)
        with right:
            show(picture)
        copy_recipe(here, *training.calls(found), command=training.command(found))
