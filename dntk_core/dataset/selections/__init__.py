"""Real images instead of synthetic ones: per class, which of its images stand for all. One selection per file.

`SELECTIONS` in `base/selections.py` lists them."""

from importlib import import_module

import numpy as np

from dntk_core.base.errors import DNTKError
from dntk_core.base.selections import SELECTIONS
from dntk_core.dataset.selections.pool import Choice, Pool

__all__ = ["Choice", "Pool", "choose"]


def choose(name: str, points: np.ndarray, size: int, rng: np.random.Generator) -> Choice:
    """Choose `size` images of a class by their points (n_c, d)."""
    if size > len(points):
        raise DNTKError(f"{size} images of a class asked for, but it has only {len(points)}; ask for fewer per class")
    return import_module(SELECTIONS[name].build).choose(Pool(points, size, rng))
