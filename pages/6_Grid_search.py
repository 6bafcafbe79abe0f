"""Grid search: every setting of Algorithm 1 at a glance, and the one that an objective asks for; a click opens one."""

import streamlit as st

from dntk_core.dashboard.asking.objective import ask_clusters, ask_objective
from dntk_core.dashboard.asking.opened import opened
from dntk_core.dashboard.choices.picks import on_click
from dntk_core.dashboard.choices.sidebar import apply
from dntk_core.dashboard.choices.tabs import tab
from dntk_core.dashboard.drawing import literal
from dntk_core.dashboard.drawing.metrics import FIRST, titles
from dntk_core.dashboard.drawing.panel import show
from dntk_core.dashboard.drawing.recipe import copy_recipe
from dntk_core.dashboard.page import follow, page
from dntk_core.dashboard.sections import grid

clicked = on_click(lambda point: grid.pick_at(here, "grid", point))


def chosen() -> None:
    """Set the sliders to the setting chosen from the list."""
    setting = best.get(st.session_state["grid_setting"])
    if setting:
        apply(**setting)


with page(grid.TITLE, uses=("H", "tau_v", "tau_g", "rule", "energy", "ridge", "readout")) as here:
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        metric = tab(here, "score", titles(), FIRST, "Score")
        clusters = ask_clusters(here)
    with st.spinner("Searching the grid"):
        found = grid.search(here, clusters)
    objective = ask_objective(here, metric)
    answer = objective.answer(found)
    if answer is None:
        st.warning("No setting of this grid does that: ask for less, or search other numbers of clusters.")
    else:
        with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute", border=True):
            said = grid.in_words(here, found, metric, answer)
            st.markdown(f":material/flag: {literal.markdown(said)}", width="content")
            st.button("Use this setting", on_click=apply, kwargs=grid.sliders(found, answer), type="primary")
    best = grid.best_settings(here, metric, clusters)
    heatmaps, frontier, counts = follow(here, lambda here: grid.panels(here, metric, clusters, objective))
    show(heatmaps, on_click=clicked)
    opened(here)
    left, right = st.columns(2, gap="medium")
    with left:
        show(frontier, on_click=clicked)
    with right:
        show(counts, on_click=clicked)
    # For keyboard and phone.
    st.selectbox(
        "Pareto-optimal settings",
        list(best),
        index=None,
        placeholder="Choose one to set the sliders",
        key="grid_setting",
        on_change=chosen,
    )
    copy_recipe(here, *grid.calls(here, clusters))
