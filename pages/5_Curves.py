"""Curves: accuracy, fidelity, MSE and conditioning over size, rank and ridge; all methods compared."""

import streamlit as st

from dntk_core.dashboard.asking.errors import choose_errors
from dntk_core.dashboard.asking.opened import opened
from dntk_core.dashboard.choices.picks import pick
from dntk_core.dashboard.choices.sidebar import apply
from dntk_core.dashboard.choices.tabs import open_tab, tab
from dntk_core.dashboard.drawing.cautious import warn
from dntk_core.dashboard.drawing.metrics import FIRST, titles
from dntk_core.dashboard.drawing.panel import show
from dntk_core.dashboard.drawing.recipe import copy_recipe
from dntk_core.dashboard.page import follow, page
from dntk_core.dashboard.sections import curves
from dntk_core.readout.ridge import READOUTS


def clicked(point: dict) -> None:
    """Set the sliders to the point that was clicked, and open the test inputs behind its score."""
    apply(**curves.sliders_at(here, found.key, point))
    if asked := curves.pick_at(here, found.key, point):
        pick(asked)


with page(curves.TITLE, uses=curves.USES[open_tab("over", curves.VIEWS)]) as here:
    warn(here.run)
    over = tab(here, "over", curves.VIEWS)
    bar = st.empty()

    def report(event):
        bar.progress(event.done / event.total, f"Comparing methods: {event.note}")

    with bar, st.spinner("Distilling and scoring"):
        if over == "methods":
            # Seconds, under a bar: too long to follow a slider.
            found = curves.panel(here, over, report)
        else:
            (found,) = follow(here, lambda at: (curves.panel(at, over),))
    bar.empty()
    show(found, on_click=clicked)
    choose_errors(here.picked, ("full", "network") if over == "rank" else ("distilled", "full", "network"))
    opened(here)
    if over == "methods":
        st.markdown("#### In numbers")
        with st.container(horizontal=True, gap="large"):
            metric = tab(here, "score", titles(), FIRST)
            by = tab(here, "by", {name: each.title for name, each in READOUTS.items()}, here.view.readout)
        # The other readout takes as long again: below a figure that stands.
        bar = st.empty()
        numbers = curves.numbers(here, metric, by, report)
        bar.empty()
        st.dataframe(numbers, hide_index=True, height="content")
        st.caption("Means over seeds, shares with their 95% intervals; – where a method cannot make so few gradients.")
        st.markdown("#### How Algorithm 1 was set")
        st.dataframe(curves.settings_table(here), hide_index=True, width="content")
    copy_recipe(here, *curves.calls(here, over), command=curves.command(here, over))
