"""Curves: accuracy, fidelity, MSE and conditioning over size, rank and ridge; all methods compared."""

import streamlit as st

from dntk_core.dashboard.cautious import warn
from dntk_core.dashboard.metrics import FIRST, METRICS
from dntk_core.dashboard.page import page
from dntk_core.dashboard.panel import show
from dntk_core.dashboard.recipe import copy_recipe
from dntk_core.dashboard.sections import curves

with page(curves.TITLE, uses=("method", "ridge", "readout", "rank", "H", "tau_v", "tau_g", "rule")) as here:
    warn(here.run)
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
    if over == "methods":
        st.markdown("#### Both readouts in numbers")
        metric = st.segmented_control(
            "Score",
            list(METRICS),
            default=FIRST,
            required=True,
            format_func=lambda name: METRICS[name].title,
            key="methods_metric",
            label_visibility="collapsed",
        )
        # The other readout takes as long again: below a figure that stands.
        bar = st.empty()
        numbers = curves.numbers(here, metric, report)
        bar.empty()
        st.dataframe(numbers, hide_index=True)
        st.caption("Means over seeds, shares with their 95 % intervals; – where a method cannot make so few gradients.")
        st.markdown("#### How Algorithm 1 was set")
        st.dataframe(curves.settings_table(here), hide_index=True, width="content")
    copy_recipe(here, *curves.calls(here, over), command=curves.command(here, over))
