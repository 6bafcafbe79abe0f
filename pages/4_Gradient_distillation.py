"""Gradient distillation: what Algorithm 1 keeps, how it scores, what each gradient is made of."""

import streamlit as st

from dntk_core.dashboard.mixing import current_mixing
from dntk_core.dashboard.page import page
from dntk_core.dashboard.panel import show
from dntk_core.dashboard.sections import distillation
from dntk_core.dashboard.snippets import copy_blocks

with page("Gradient distillation", uses=("H", "tau_v", "tau_g", "rule", "ridge", "method")) as here:
    figures = st.container()
    # Below the figures, but asked first: it decides which gradients they show.
    number = st.pagination(distillation.pages(here), key="gradients_page")
    with figures:
        for panel in distillation.panels(here, number):
            show(panel)
    copy_blocks(here.run.key, here.view, current_mixing(here.live, here.view).size)
