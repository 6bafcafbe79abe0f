"""The images nearest to the points of the class's Wasserstein barycenter."""

from dntk_core.dataset.barycenter import free_barycenter, nearest_images
from dntk_core.dataset.selections.pool import Choice, Pool


def choose(pool: Pool) -> Choice:
    """Take the image nearest to each point of the free-weight barycenter, with that point's weight."""
    barycenter = free_barycenter(pool.points, pool.size, pool.rng)
    return Choice(nearest_images(pool.points, barycenter.points), barycenter.weights)
