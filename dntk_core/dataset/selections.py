"""Real images instead of synthetic ones: per class, which of its images stand for all."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dntk_core.base.errors import DNTKError
from dntk_core.dataset.barycenter import free_barycenter, nearest_images
from dntk_core.distill.farthest import farthest_point
from dntk_core.distill.herding import herding
from dntk_core.distill.mixing import Mixing
from dntk_core.distill.pivoted_cholesky import pivoted_cholesky
from dntk_core.distill.uniform import uniform


@dataclass(frozen=True)
class Choice:
    """Images of one class: index (j,) into it, weights (j,) that sum to 1."""

    index: np.ndarray
    weights: np.ndarray


@dataclass(frozen=True)
class Pool:
    """One class's images as points, from which `size` are chosen.

    points: (n_c, d) penultimate features, or (n_c, C·k) stacked projected gradients for a method that `uses_gradients`
    """

    points: np.ndarray
    size: int
    rng: np.random.Generator

    @property
    def kernel(self) -> np.ndarray:
        """Inner products of the points, (n_c, n_c)."""
        return self.points @ self.points.T


@dataclass(frozen=True)
class Selection:
    """One way to choose real images."""

    function: Callable[[Pool], Choice]
    summary: str
    uses_gradients: bool = False


def choose(name: str, points: np.ndarray, size: int, rng: np.random.Generator) -> Choice:
    """Choose `size` images of a class by their points (n_c, d)."""
    if size > len(points):
        raise DNTKError(f"{size} images of a class asked for, but it has only {len(points)}; ask for fewer per class")
    return SELECTIONS[name].function(Pool(points, size, rng))


def barycenter_images(pool: Pool) -> Choice:
    """Take the image nearest to each point of the free-weight barycenter, with that point's weight."""
    barycenter = free_barycenter(pool.points, pool.size, pool.rng)
    return Choice(nearest_images(pool.points, barycenter.points), barycenter.weights)


def _equal(mixing: Mixing) -> Choice:
    """Read a selection's one-hot rows; all images weigh the same."""
    return Choice(mixing.matrix.argmax(axis=1), np.full(mixing.size, 1 / mixing.size))


SELECTIONS: dict[str, Selection] = {
    "random": Selection(
        lambda pool: _equal(uniform(np.zeros(len(pool.points), int), pool.size, pool.rng)),
        "images drawn uniformly",
    ),
    "herding": Selection(
        lambda pool: _equal(herding(pool.kernel, pool.size)),
        "images whose average follows the class mean in feature space",
    ),
    "k-center": Selection(
        lambda pool: _equal(farthest_point(pool.kernel, pool.size)),
        "images that leave none far away in feature space",
    ),
    "k-means medoids": Selection(
        barycenter_images,
        "the images nearest to the class's barycenter points",
    ),
    "pivoted Cholesky": Selection(
        lambda pool: _equal(pivoted_cholesky(pool.kernel, pool.size, pool.rng)),
        "images drawn by what earlier ones leave unexplained of the gradient kernel",
        uses_gradients=True,
    ),
}
