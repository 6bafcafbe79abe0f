"""Kernel health: errors without test data, where the targets lie, labels that look wrong."""

from collections.abc import Callable

import streamlit as st

from dntk_core.dashboard.asking.opened import opened
from dntk_core.dashboard.choices.kept import keep, recall
from dntk_core.dashboard.choices.picks import Pick, on_click, pick
from dntk_core.dashboard.choices.sidebar import apply
from dntk_core.dashboard.drawing import literal
from dntk_core.dashboard.drawing.cautious import warn
from dntk_core.dashboard.drawing.inputs import show_inputs
from dntk_core.dashboard.drawing.palette import BLUE, VERMILION
from dntk_core.dashboard.drawing.panel import Panel, show
from dntk_core.dashboard.drawing.recipe import copy_recipe
from dntk_core.dashboard.page import follow, page
from dntk_core.dashboard.sections import health


def chosen(number: int) -> None:
    """Look at one label, and open its input."""
    st.session_state["kept_looked_at"] = number
    pick(Pick.of("input", number))


def set_ridge(point: dict) -> None:
    """Set the ridge to the one that was clicked, and open the test inputs behind a score there."""
    apply(**health.sliders_at(here, ridge.key, point))
    clicked(ridge)(point)


def turn_to(point: dict) -> None:
    """Turn to the labels of the bar that was clicked."""
    place = health.rank_at(here, point)
    st.session_state["health_page"] = place // health.SHOWN + 1
    st.session_state["kept_looked_at"] = int(health.suspicious(here).order[place])


def clicked(panel: Panel) -> Callable[[dict], None]:
    """What a click on a point of a panel does."""
    return on_click(lambda point: health.pick_at(here, panel.key, point))


with page(health.TITLE, uses=("kernel", "ridge", "method", "readout")) as here:
    warn(here.run)
    with st.spinner("Leaving out inputs", show_time=True):
        ridge, size, targets, labels = follow(here, health.panels)
    show(ridge, on_click=set_ridge)
    show(size, on_click=clicked(size))
    left, right = st.columns(2, gap="medium")
    with left:
        show(targets, on_click=clicked(targets))
    with right:
        show(labels, on_click=turn_to)
    found = health.suspicious(here)
    pages = -(-len(found.order) // health.SHOWN)
    place = st.pagination(pages, key="health_page") if pages > 1 else 1
    shown = found.order[(place - 1) * health.SHOWN : place * health.SHOWN].tolist()
    frames = [VERMILION if found.margin[i] < 0 else BLUE for i in shown]
    show_inputs(here.run, "kernel", shown, health.notes(here, shown), frames, key="health_gallery", on_click=chosen)
    asked: int | None = st.session_state[recall("looked_at", int, None)]
    keep(here.link, "looked_at", "" if asked is None else str(asked))
    looked_at = asked if asked is not None and 0 <= asked < len(found.margin) else shown[0]
    st.markdown(literal.markdown(health.described(here, looked_at)))
    opened(here)
    copy_recipe(here, *health.calls(here), command=health.command(here))
