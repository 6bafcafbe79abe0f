"""Images whose average follows the class mean."""

from dntk_core.dataset.selections.pool import Choice, Pool, equal
from dntk_core.distill.herding import herding


def choose(pool: Pool) -> Choice:
    """Take the image that brings the average nearest to the mean of all, again and again."""
    return equal(herding(pool.kernel, pool.size))
