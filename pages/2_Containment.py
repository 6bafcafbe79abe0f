"""Containment: property (A), local variance lies in the global eigenspace."""

import streamlit as st

from dntk_core.dashboard.null_model import offered
from dntk_core.dashboard.page import page
from dntk_core.dashboard.panel import show
from dntk_core.dashboard.recipe import copy_recipe
from dntk_core.dashboard.sections import containment

with page(containment.TITLE, uses=("kernel", "H", "epsilon", "rank")) as here:
    null = offered(here)
    with st.spinner("Measuring clusters", show_time=True):
        found = containment.panels(here, null)
    for panel in found:
        show(panel)
    copy_recipe(here, *containment.calls(here))
