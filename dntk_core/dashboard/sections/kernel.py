"""Which kernel the sliders choose."""

from dntk_core.dashboard.page import Page
from dntk_core.dashboard.view import View


def chosen_class(view: View) -> int | None:
    """The class whose kernel is looked at; None for the mean of all."""
    return None if view.kernel == "mean" else view.kernel


def kernel_name(here: Page) -> str:
    """The name of the kernel looked at."""
    c = chosen_class(here.view)
    return "mean" if c is None else here.run.class_names[c]
