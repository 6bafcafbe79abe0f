"""Inputs drawn uniformly, without replacement."""

import numpy as np

from dntk_core.distill.mixing import Mixing, selection


def uniform(m: int, size: int, generator: np.random.Generator) -> Mixing:
    """Select `size` of m inputs at random, in nested order."""
    return selection(generator.permutation(m)[:size], m)
