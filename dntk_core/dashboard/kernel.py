"""Which kernel the sliders choose."""

from dntk_core.dashboard.page import Page
from dntk_core.dashboard.view import View


def chosen_class(view: View) -> int | None:
    """The class whose kernel is looked at; None for the mean of all."""
    return None if view.kernel == "mean" else view.kernel


def kernel_name(here: Page) -> str:
    """The name of the kernel looked at."""
    c = chosen_class(here.view)
    return mean_name(here.run.class_names) if c is None else here.run.class_names[c]


def mean_name(classes: tuple[str, ...]) -> str:
    """The name of the mean kernel, which a class may have taken.

    >>> mean_name(("cat", "dog")), mean_name(("mean", "mode"))
    ('mean', 'mean of all classes')
    """
    return "mean of all classes" if "mean" in classes else "mean"
