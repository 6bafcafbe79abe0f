"""Error budget: the terms of the paper's bounds over ridge and projected dimension."""

from collections.abc import Callable

import streamlit as st

from dntk_core.dashboard.asking.opened import opened
from dntk_core.dashboard.choices.picks import pick
from dntk_core.dashboard.choices.sidebar import apply
from dntk_core.dashboard.drawing.panel import Panel, show
from dntk_core.dashboard.drawing.recipe import copy_recipe
from dntk_core.dashboard.page import follow, page
from dntk_core.dashboard.sections import budget


def clicked(panel: Panel) -> Callable[[dict], None]:
    """Set the ridge that was clicked, or open the dimension."""

    def act(point: dict) -> None:
        apply(**budget.sliders_at(here, panel.key, point))
        if asked := budget.pick_at(here, panel.key, point):
            pick(asked)

    return act


with page(budget.TITLE, uses=("kernel", "ridge", "epsilon")) as here:
    known = st.session_state.get("budget_parts") == here.run.key
    with st.spinner("Evaluating the bounds"):
        found = follow(here, lambda here: budget.panels(here, parts=known))
    for column, panel in zip(st.columns(2, gap="medium"), found, strict=True):
        with column:
            show(panel, on_click=clicked(panel))
    opened(here)
    below = st.container()
    st.markdown(budget.MEANINGS)
    copy_recipe(here, *budget.calls(here))
    # Seconds, so only once the page stands; beyond a few thousand inputs much longer, so only when asked for.
    if not known and (here.run.dense or below.button("Tell projection from non-linearity")):
        with below, st.spinner("Telling the projection's error from the network's", show_time=True):
            budget.split(here)
        st.session_state["budget_parts"] = here.run.key
        st.rerun()
