"""Containment: property (A), local variance lies in the global eigenspace."""

from dntk_core.dashboard.page import page
from dntk_core.dashboard.panel import show
from dntk_core.dashboard.recipe import copy_recipe
from dntk_core.dashboard.sections import containment

with page(containment.TITLE, uses=("kernel", "H", "epsilon", "rank")) as here:
    for panel in containment.panels(here):
        show(panel)
    copy_recipe(here, *containment.calls(here))
