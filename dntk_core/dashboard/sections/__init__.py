"""What each page shows, one file per page: a function of the open page that returns its panels.

Pages draw the panels with `show`; the report prints those of every section. A page only places them:

    with page("Spectra", uses=("H", "epsilon", "kernel")) as here:
        decay, ranks, picture = spectra.panels(here)
        show(decay)
        left, right = st.columns(2)
        ...

SECTIONS lists them in the order of the pages.
"""

from collections.abc import Callable, Sequence

from dntk_core.dashboard.page import Page
from dntk_core.dashboard.panel import Panel
from dntk_core.dashboard.sections import (
    budget,
    containment,
    coverage,
    curves,
    dataset,
    distillation,
    grid,
    ledger,
    spectra,
)

SECTIONS: dict[str, Callable[[Page], Sequence[Panel]]] = {
    "Cost": ledger.panels,
    "Spectra": spectra.panels,
    "Containment": containment.panels,
    "Gap coverage": coverage.panels,
    "Gradient distillation": distillation.panels,
    "Curves": curves.every_panel,
    "Grid search": grid.panels,
    "Dataset distillation": dataset.panels,
    "Error budget": budget.panels,
}
