"""The ways to choose real images, one row each, and which module does it.

The table lies below all rooms that use it, as that of the stages does: keys of runs hold its names, and listing runs
must not load PyTorch. So a row names its module, imported when images are chosen.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Selection:
    """One way to choose real images.

    build: a module with choose(pool), the images of one class that stand for all of it
    uses_gradients: whether the pool's points are gradients rather than penultimate features
    """

    build: str
    summary: str
    uses_gradients: bool = False


SELECTIONS: dict[str, Selection] = {
    "random": Selection("dntk_core.dataset.selections.random", "images drawn uniformly"),
    "herding": Selection(
        "dntk_core.dataset.selections.herding", "images whose average follows the class mean in feature space"
    ),
    "k-center": Selection("dntk_core.dataset.selections.k_center", "images that leave none far away in feature space"),
    "k-means medoids": Selection(
        "dntk_core.dataset.selections.medoids", "the images nearest to the class's barycenter points"
    ),
    "pivoted Cholesky": Selection(
        "dntk_core.dataset.selections.pivoted_cholesky",
        "images drawn by what earlier ones leave unexplained of the gradient kernel",
        uses_gradients=True,
    ),
}
