"""Grid search: every setting of Algorithm 1 at a glance; a click applies one."""

import streamlit as st

from dntk_core.dashboard.controls import apply
from dntk_core.dashboard.page import page
from dntk_core.dashboard.panel import show
from dntk_core.dashboard.sections import grid
from dntk_core.dashboard.sections.recipe import copy_recipe


def choose(point: dict) -> None:
    """Set the sliders to a clicked setting."""
    setting = grid.setting(point)
    if setting:
        apply(**setting)


with page("Grid search", uses=("H", "tau_v", "tau_g", "rule", "ridge")) as here:
    metric = st.segmented_control(
        "Score", list(grid.METRICS), default="fidelity", required=True, format_func=grid.METRICS.get, key="grid_metric"
    )
    heatmaps, frontier, counts = grid.panels(here, metric)
    show(heatmaps, on_click=choose)
    left, right = st.columns(2, gap="medium")
    with left:
        show(frontier, on_click=choose)
    with right:
        show(counts, on_click=choose)
    copy_recipe(here, *grid.calls(here))
