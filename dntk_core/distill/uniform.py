"""Inputs drawn at random, evenly by class, without replacement."""

import numpy as np

from dntk_core.distill.mixing import Mixing, selection


def uniform(classes: np.ndarray, size: int, generator: np.random.Generator) -> Mixing:
    """Select `size` inputs at random, given the class of each (m,); any first rows hold every class alike. Nested."""
    order = generator.permutation(len(classes))
    # The turn of an input is its place among those of its class; within a turn the order stays random.
    turn = np.empty(len(classes), dtype=int)
    for c in np.unique(classes):
        members = order[classes[order] == c]
        turn[members] = np.arange(len(members))
    order = order[np.argsort(turn[order], kind="stable")]
    return selection(order[:size], len(classes))
