"""Error budget: the terms of the paper's bounds over ridge and projected dimension."""

import streamlit as st

from dntk_core.dashboard.page import page
from dntk_core.dashboard.panel import show
from dntk_core.dashboard.sections import budget
from dntk_core.dashboard.sections.recipe import copy_recipe

with page("Error budget", uses=("kernel", "ridge", "epsilon")) as here:
    for column, panel in zip(st.columns(2, gap="medium"), budget.panels(here), strict=True):
        with column:
            show(panel)
    st.markdown(budget.MEANINGS)
    copy_recipe(here, *budget.calls(here))
