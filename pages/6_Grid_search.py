"""Grid search: every setting of Algorithm 1 at a glance; a click applies one."""

import streamlit as st

from dntk_core.dashboard.metrics import FIRST, METRICS
from dntk_core.dashboard.page import page
from dntk_core.dashboard.panel import show
from dntk_core.dashboard.recipe import copy_recipe
from dntk_core.dashboard.sections import grid
from dntk_core.dashboard.sidebar import apply


def clicked(point: dict) -> None:
    """Set the sliders to the setting that was clicked."""
    setting = grid.setting(point)
    if setting:
        apply(**setting)


def chosen() -> None:
    """Set the sliders to the setting chosen from the list."""
    setting = best.get(st.session_state["grid_setting"])
    if setting:
        apply(**setting)


with page(grid.TITLE, uses=("H", "tau_v", "tau_g", "rule", "ridge", "readout")) as here:
    with st.spinner("Searching the grid"):
        grid.search(here)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="large"):
        metric = st.segmented_control(
            "Score",
            list(METRICS),
            default=FIRST,
            required=True,
            format_func=lambda name: METRICS[name].title,
            key="grid_metric",
        )
        best = grid.best_settings(here, metric)
        # The same as a click, for keyboard and phone.
        st.selectbox(
            "Pareto-optimal settings",
            list(best),
            index=None,
            placeholder="Choose one to set the sliders",
            key="grid_setting",
            on_change=chosen,
        )
    heatmaps, frontier, counts = grid.panels(here, metric)
    show(heatmaps, on_click=clicked)
    left, right = st.columns(2, gap="medium")
    with left:
        show(frontier, on_click=clicked)
    with right:
        show(counts, on_click=clicked)
    copy_recipe(here, *grid.calls(here))
