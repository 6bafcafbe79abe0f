"""Which kernel the sliders choose."""

from dntk_core.dashboard.choices.view import chosen_class
from dntk_core.dashboard.page import Page

__all__ = ["chosen_class", "kernel_name", "mean_name"]


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
