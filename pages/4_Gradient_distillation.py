"""Gradient distillation: what Algorithm 1 keeps, how it scores, what each gradient is made of."""

import streamlit as st

from dntk_core.dashboard.asking.opened import opened
from dntk_core.dashboard.choices.mixing import USES
from dntk_core.dashboard.choices.picks import on_click
from dntk_core.dashboard.drawing.panel import show
from dntk_core.dashboard.drawing.recipe import copy_recipe, scores_command
from dntk_core.dashboard.page import follow, page
from dntk_core.dashboard.sections import distillation

with page(distillation.TITLE, uses=USES) as here:
    figures = st.container()
    # Below the figures, but asked first: it decides which gradients they show.
    number = st.pagination(distillation.pages(here), key="gradients_page")
    with figures:
        outcome, gallery = follow(here, lambda here: distillation.panels(here, number))
        show(outcome, on_click=on_click(lambda point: distillation.pick_at(here, outcome.key, point)))
        opened(here)
        show(gallery, on_click=on_click(lambda point: distillation.pick_at(here, gallery.key, point, number)))
    copy_recipe(here, *distillation.calls(here), command=scores_command(here))
