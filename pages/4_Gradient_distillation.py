"""Gradient distillation: what Algorithm 1 keeps, how it scores, what each gradient is made of."""

import streamlit as st

from dntk_core.dashboard.mixing import USES
from dntk_core.dashboard.page import page
from dntk_core.dashboard.panel import show
from dntk_core.dashboard.recipe import copy_recipe, scores_command
from dntk_core.dashboard.sections import distillation

with page(distillation.TITLE, uses=USES) as here:
    figures = st.container()
    # Below the figures, but asked first: it decides which gradients they show.
    number = st.pagination(distillation.pages(here), key="gradients_page")
    with figures:
        for panel in distillation.panels(here, number):
            show(panel)
    copy_recipe(here, *distillation.calls(here), command=scores_command(here))
