"""Images drawn uniformly."""

import numpy as np

from dntk_core.dataset.selections.pool import Choice, Pool, equal
from dntk_core.distill.uniform import uniform


def choose(pool: Pool) -> Choice:
    """Draw without replacement."""
    return equal(uniform(np.zeros(len(pool.points), int), pool.size, pool.rng))
