"""What each page shows, one file per page: its TITLE and a function of the open page that returns its panels.

Pages draw the panels with `show`; the report prints those of every section. A page only places them:

    with page(spectra.TITLE, uses=("H", "epsilon", "kernel")) as here:
        decay, ranks, picture = spectra.panels(here)
        show(decay)
        left, right = st.columns(2)
        ...

SECTIONS finds them all: what stands on Home, then the others in the order of the pages.
"""

from collections.abc import Callable, Sequence
from importlib import import_module
from pkgutil import iter_modules
from types import ModuleType

from dntk_core.dashboard.choices.picks import Pick
from dntk_core.dashboard.drawing.navigation import pages
from dntk_core.dashboard.drawing.panel import Panel
from dntk_core.dashboard.page import Page

Panels = Callable[[Page], Sequence[Panel]]
# Of the open page, a panel's key and a point of its figure: what that stands for, and what it sets of the sliders.
PickAt = Callable[[Page, str, dict], Pick | None]
SlidersAt = Callable[[Page, str, dict], dict]


def _none(here: Page, panel: str, point: dict) -> dict:
    """No figure of this section moves sliders."""
    return {}


def _sections() -> list[ModuleType]:
    modules = [import_module(f"{__name__}.{found.name}") for found in iter_modules(__path__)]
    order = ["Overview", "Cost", *(label for _, label in pages())]
    return sorted(modules, key=lambda module: order.index(module.TITLE))


SECTIONS: dict[str, Panels] = {module.TITLE: module.panels for module in _sections()}
# What a report prints: all that a page shows one part at a time.
PRINTED: dict[str, Panels] = {module.TITLE: getattr(module, "printed", module.panels) for module in _sections()}
PICKS: dict[str, PickAt] = {module.TITLE: module.pick_at for module in _sections()}
SLIDERS: dict[str, SlidersAt] = {module.TITLE: getattr(module, "sliders_at", _none) for module in _sections()}
