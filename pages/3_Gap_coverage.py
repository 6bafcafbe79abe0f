"""Gap coverage: property (B), global directions that no cluster holds."""

import streamlit as st

from dntk_core.dashboard.asking.null_model import offered
from dntk_core.dashboard.asking.opened import opened
from dntk_core.dashboard.choices.picks import pick
from dntk_core.dashboard.choices.sidebar import apply
from dntk_core.dashboard.choices.stops import SEEN_GAPS
from dntk_core.dashboard.choices.tabs import open_tab, tab
from dntk_core.dashboard.drawing.panel import show
from dntk_core.dashboard.drawing.recipe import copy_recipe
from dntk_core.dashboard.page import follow, page
from dntk_core.dashboard.sections import coverage


def clicked(point: dict) -> None:
    """Open the direction that was clicked; in a small figure, of its class."""
    apply(**coverage.sliders_at(here, found.key, point))
    pick(coverage.pick_at(here, found.key, point))


SHOWN = {"one": coverage.chosen, "every": coverage.every}

with page(coverage.TITLE, uses=coverage.USES[open_tab("kernels", coverage.VIEWS)], scales=SEEN_GAPS) as here:
    shown = tab(here, "kernels", coverage.VIEWS)
    null = offered(here)
    with st.spinner("Measuring clusters", show_time=True):
        (found,) = follow(here, lambda here: (SHOWN[shown](here, null),))
    show(found, on_click=clicked)
    opened(here)
    copy_recipe(here, *coverage.calls(here))
