"""Images that leave none far away."""

from dntk_core.dataset.selections.pool import Choice, Pool, equal
from dntk_core.distill.farthest import farthest_point


def choose(pool: Pool) -> Choice:
    """Take the image farthest from those taken, again and again."""
    return equal(farthest_point(pool.kernel, pool.size))
