"""Error budget: the terms of the paper's bounds over ridge and projected dimension."""

import streamlit as st

from dntk_core.dashboard.page import page
from dntk_core.dashboard.panel import show
from dntk_core.dashboard.recipe import copy_recipe
from dntk_core.dashboard.sections import budget

with page(budget.TITLE, uses=("kernel", "ridge", "epsilon")) as here:
    with st.spinner("Evaluating the bounds"):
        found = budget.panels(here)
    for column, panel in zip(st.columns(2, gap="medium"), found, strict=True):
        with column:
            show(panel)
    st.markdown(budget.MEANINGS)
    copy_recipe(here, *budget.calls(here))
