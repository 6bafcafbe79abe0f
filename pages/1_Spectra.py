"""Spectra: singular values, truncation ranks, redundancy, the kernel itself."""

import streamlit as st

from dntk_core.dashboard.asking.opened import opened
from dntk_core.dashboard.choices.picks import on_click
from dntk_core.dashboard.choices.sidebar import apply
from dntk_core.dashboard.drawing.cautious import warn
from dntk_core.dashboard.drawing.panel import show
from dntk_core.dashboard.drawing.recipe import copy_recipe
from dntk_core.dashboard.page import follow, page
from dntk_core.dashboard.sections import spectra


def look_at(point: dict) -> None:
    """Look at the kernel that was clicked."""
    apply(**spectra.sliders_at(here, "spectra", point))


with page(spectra.TITLE, uses=("kernel", "epsilon", "energy", "H")) as here:
    warn(here.run)
    decay, summary, picture = follow(here, spectra.panels)
    left, right = st.columns([3, 2], gap="medium")
    with left:
        show(decay, on_click=look_at)
    with right:
        show(picture, on_click=on_click(lambda point: spectra.pick_at(here, picture.key, point)))
    opened(here)
    show(summary, on_click=look_at)
    copy_recipe(here, *spectra.calls(here))
