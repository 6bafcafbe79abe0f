"""METHODS: every way to distil, one row each."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dntk_core.base.errors import DNTKError
from dntk_core.distill.averaging import centroids, medoids
from dntk_core.distill.budget import local_global_within
from dntk_core.distill.farthest import farthest_point
from dntk_core.distill.herding import herding
from dntk_core.distill.kernel_pca import kernel_pca
from dntk_core.distill.leverage import leverage
from dntk_core.distill.mixing import Mixing
from dntk_core.distill.pivoted_cholesky import pivoted_cholesky
from dntk_core.distill.ridge_optimal import ridge_optimal
from dntk_core.distill.source import ANY_H, PAPER_H, Source
from dntk_core.distill.uniform import uniform
from dntk_core.kernels.ridge import absolute_ridge


@dataclass(frozen=True)
class Method:
    """One way to distil.

    function:     (source, size, λ, generator) -> Mixing with at most `size` rows
    summary:      one line for people
    nested:       the first rows of a larger distillation are the smaller one
    random:       depends on the generator: average over seeds
    selects:      every row is one of the inputs
    uses_targets: looks at the network's outputs, not only at its gradients
    uses_ridge:   depends on the readout's ridge
    """

    function: Callable[[Source, int, float, np.random.Generator], Mixing]
    summary: str
    nested: bool
    random: bool = False
    selects: bool = False
    uses_targets: bool = False
    uses_ridge: bool = False

    def distil(self, source: Source, size: int, ridge: float, seed: int = 0) -> Mixing:
        """Distil a source into at most `size` gradients; the ridge is the dimensionless one of the readout."""
        if not 1 <= size <= source.m:
            raise DNTKError(f"the number of distilled gradients must lie in 1..{source.m} (inputs), got {size}")
        lam = absolute_ridge(source.kernels, ridge)
        return self.function(source, size, lam, np.random.default_rng(seed))


METHODS: dict[str, Method] = {
    "random": Method(
        lambda source, size, lam, generator: uniform(source.by_class, size, generator),
        "inputs drawn at random, evenly by class",
        nested=True,
        random=True,
        selects=True,
    ),
    "ridge leverage scores": Method(
        lambda source, size, lam, generator: leverage(source.spectrum, source.kernel.diagonal(), size, generator),
        "inputs drawn by how much a ridge fit of s directions leans on each, and weighted by how rarely",
        nested=False,
        random=True,
        selects=True,
    ),
    "farthest point": Method(
        lambda source, size, lam, generator: farthest_point(source.kernel, size),
        "always the input farthest from those chosen",
        nested=True,
        selects=True,
    ),
    "k-means medoids": Method(
        lambda source, size, lam, generator: medoids(source.spectrum, size, generator),
        "the input nearest to each k-means centre",
        nested=False,
        random=True,
        selects=True,
    ),
    "k-means centroids": Method(
        lambda source, size, lam, generator: centroids(source.spectrum, size, generator),
        "the mean gradient of each k-means cluster",
        nested=False,
        random=True,
    ),
    "herding": Method(
        lambda source, size, lam, generator: herding(source.kernel, size),
        "inputs whose average follows the mean gradient",
        nested=True,
        selects=True,
    ),
    "randomly pivoted Cholesky": Method(
        lambda source, size, lam, generator: pivoted_cholesky(source.kernel, size, generator),
        "inputs drawn by what earlier ones leave unexplained",
        nested=True,
        random=True,
        selects=True,
    ),
    "kernel PCA": Method(
        lambda source, size, lam, generator: kernel_pca(source.spectrum, size),
        "the leading eigenvectors of the mean kernel",
        nested=True,
    ),
    "local-global": Method(
        lambda source, size, lam, generator: local_global_within(source.kernel, source.decompositions(ANY_H), size),
        "the paper's: leading eigenvectors of each cluster, and the global ones that no cluster covers",
        nested=False,
    ),
    "local-global, paper's H": Method(
        lambda source, size, lam, generator: local_global_within(source.kernel, source.decompositions(PAPER_H), size),
        "the same with the paper's own grid, H = 5, 10, 15, 20; needs five gradients or more",
        nested=False,
    ),
    "ridge-optimal": Method(
        lambda source, size, lam, generator: ridge_optimal(source.kernels, source.spectrum, source.targets, lam, size),
        "rows that keep the ridge fit itself; exact from one per class on",
        nested=False,
        uses_targets=True,
        uses_ridge=True,
    ),
}
