"""Containment: property (A), local variance lies in the global eigenspace."""

import streamlit as st

from dntk_core.dashboard.asking.null_model import offered
from dntk_core.dashboard.asking.opened import opened
from dntk_core.dashboard.choices.picks import pick
from dntk_core.dashboard.choices.sidebar import apply
from dntk_core.dashboard.choices.stops import CONTAINED_RANKS
from dntk_core.dashboard.drawing.panel import show
from dntk_core.dashboard.drawing.recipe import copy_recipe
from dntk_core.dashboard.page import follow, page
from dntk_core.dashboard.sections import containment


def clicked(point: dict) -> None:
    """Open the cluster of a row; on a curve, look at that rank."""
    apply(**containment.sliders_at(here, "containment", point))
    if found := containment.pick_at(here, "containment", point):
        pick(found)


with page(containment.TITLE, uses=("kernel", "H", "epsilon", "energy", "rank"), scales=CONTAINED_RANKS) as here:
    null = offered(here)
    with st.spinner("Measuring clusters", show_time=True):
        found = follow(here, lambda here: containment.panels(here, null))
    for panel in found:
        show(panel, on_click=clicked)
    opened(here)
    copy_recipe(here, *containment.calls(here))
