"""What each page shows, one file per page: its TITLE and a function of the open page that returns its panels.

Pages draw the panels with `show`; the report prints those of every section. A page only places them:

    with page(spectra.TITLE, uses=("H", "epsilon", "kernel")) as here:
        decay, ranks, picture = spectra.panels(here)
        show(decay)
        left, right = st.columns(2)
        ...

SECTIONS finds them all, in the order of the pages.
"""

from collections.abc import Callable, Sequence
from importlib import import_module
from pkgutil import iter_modules

from dntk_core.dashboard.navigation import pages
from dntk_core.dashboard.page import Page
from dntk_core.dashboard.panel import Panel


def _sections() -> dict[str, Callable[[Page], Sequence[Panel]]]:
    modules = [import_module(f"{__name__}.{found.name}") for found in iter_modules(__path__)]
    order = [label for _, label in pages()]
    # What stands on Home goes by another title and comes first.
    modules.sort(key=lambda module: order.index(module.TITLE) if module.TITLE in order else -1)
    return {module.TITLE: module.panels for module in modules}


SECTIONS = _sections()
