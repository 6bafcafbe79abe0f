"""Spectra: singular values, truncation ranks, redundancy, the kernel itself."""

import streamlit as st

from dntk_core.dashboard.cautious import warn
from dntk_core.dashboard.page import page
from dntk_core.dashboard.panel import show
from dntk_core.dashboard.recipe import copy_recipe
from dntk_core.dashboard.sections import spectra

with page(spectra.TITLE, uses=("kernel", "epsilon", "ridge", "H")) as here:
    warn(here.run)
    decay, summary, picture = spectra.panels(here)
    left, right = st.columns([3, 2], gap="medium")
    with left:
        show(decay)
    with right:
        show(picture)
    show(summary)
    copy_recipe(here, *spectra.calls(here))
