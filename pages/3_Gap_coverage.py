"""Gap coverage: property (B), global directions that no cluster holds."""

import streamlit as st

from dntk_core.dashboard.null_model import offered
from dntk_core.dashboard.page import page
from dntk_core.dashboard.panel import show
from dntk_core.dashboard.recipe import copy_recipe
from dntk_core.dashboard.sections import coverage

SHOWN = {"One kernel": coverage.chosen, "Every class": coverage.every}

with page(coverage.TITLE, uses=("kernel", "H", "epsilon", "tau_g", "rule")) as here:
    shown = st.segmented_control(
        "Show", list(SHOWN), default="One kernel", required=True, key="coverage_shown", label_visibility="collapsed"
    )
    null = offered(here)
    with st.spinner("Measuring clusters", show_time=True):
        found = SHOWN[shown](here, null)
    show(found)
    copy_recipe(here, *coverage.calls(here))
