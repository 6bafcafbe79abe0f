"""Curves: accuracy, fidelity, MSE and conditioning over size, rank and ridge; all methods compared."""

import streamlit as st

from dntk_core.dashboard.page import page
from dntk_core.dashboard.panel import show
from dntk_core.dashboard.recipe import copy_recipe
from dntk_core.dashboard.sections import curves

with page(curves.TITLE, uses=("method", "ridge", "rank", "H", "tau_v", "tau_g", "rule")) as here:
    over = st.segmented_control(
        "Over",
        list(curves.VIEWS),
        default="size",
        required=True,
        format_func=lambda name: curves.VIEWS[name],
        key="curves_over",
        label_visibility="collapsed",
    )
    bar = st.empty()

    def report(event):
        bar.progress(event.done / event.total, f"Comparing methods: {event.note}")

    with bar, st.spinner("Distilling and scoring"):
        found = curves.panel(here, over, report)
    bar.empty()
    show(found)
    copy_recipe(here, *curves.calls(here, over), command=curves.command(here, over))
