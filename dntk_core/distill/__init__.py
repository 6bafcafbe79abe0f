"""Gradient distillation: every method turns kernels into a mixing matrix A (s, m); METHODS lists them."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dntk_core.base.errors import DNTKError
from dntk_core.distill.averaging import centroids, medoids
from dntk_core.distill.budget import local_global_within
from dntk_core.distill.farthest import farthest_point
from dntk_core.distill.herding import herding
from dntk_core.distill.kernel_pca import kernel_pca
from dntk_core.distill.leverage import leverage
from dntk_core.distill.local_global import GAP_RULES, local_global
from dntk_core.distill.mixing import Mixing, Origin, identity, selection
from dntk_core.distill.pivoted_cholesky import pivoted_cholesky
from dntk_core.distill.ridge_optimal import ridge_optimal
from dntk_core.distill.uniform import uniform
from dntk_core.kernels.class_kernels import Kernels
from dntk_core.kernels.clusters import cluster_embedding, embed
from dntk_core.kernels.decomposition import Decomposition, decompose
from dntk_core.kernels.gram import Gram
from dntk_core.kernels.ridge import absolute_ridge
from dntk_core.kernels.spectrum import Spectrum, spectrum

__all__ = ["GAP_RULES", "METHODS", "Method", "Mixing", "Origin", "Source", "identity", "local_global", "selection"]

# One cluster would be kernel PCA under another name.
BUDGET_H = (2, 3, 5, 10, 20, 50)


@dataclass(frozen=True)
class Source:
    """What methods distil, and what several of them need of it, computed when first asked for.

    kernels: Kernels  targets: (m, C)
    """

    kernels: Kernels
    targets: np.ndarray

    @property
    def m(self) -> int:
        return len(self.targets)

    @cached_property
    def whole(self) -> Spectrum:
        """The spectrum of K̄."""
        return spectrum(self.kernels.mean)

    @cached_property
    def mean(self) -> np.ndarray | Gram:
        """K̄; of many inputs what its leading eigenpairs make up of it, which is soon multiplied with."""
        whole = self.whole
        return self.kernels.mean if self.kernels.dense else Gram((whole.vectors * np.sqrt(whole.leading))[None])

    @cached_property
    def decompositions(self) -> tuple[Decomposition, ...]:
        """K̄ decomposed for H = 2, 3, 5, 10, 20, 50 clusters, as far as there are inputs."""
        K, embedding = self.kernels.mean, embed(self.kernels.mean, whole=self.whole)
        sizes = [H for H in BUDGET_H if H <= self.m] or [1]
        return tuple(decompose(K, cluster_embedding(embedding, H, 0), self.whole) for H in sizes)


@dataclass(frozen=True)
class Method:
    """One way to distil.

    function:     (source, size, λ, generator) -> Mixing with at most `size` rows
    summary:      one line for people
    nested:       the first rows of a larger distillation are the smaller one
    random:       depends on the generator: average over seeds
    uses_targets: looks at the network's outputs, not only at its gradients
    uses_ridge:   depends on the readout's ridge
    """

    function: Callable[[Source, int, float, np.random.Generator], Mixing]
    summary: str
    nested: bool
    random: bool = False
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
        lambda source, size, lam, generator: uniform(source.m, size, generator),
        "inputs drawn uniformly",
        nested=True,
        random=True,
    ),
    "ridge leverage scores": Method(
        lambda source, size, lam, generator: leverage(source.whole, lam, size, generator),
        "inputs drawn by how much the ridge fit leans on each",
        nested=True,
        random=True,
        uses_ridge=True,
    ),
    "farthest point": Method(
        lambda source, size, lam, generator: farthest_point(source.kernels.mean, size),
        "always the input farthest from those chosen",
        nested=True,
    ),
    "k-means medoids": Method(
        lambda source, size, lam, generator: medoids(source.whole, size, generator),
        "the input nearest to each k-means centre",
        nested=False,
        random=True,
    ),
    "k-means centroids": Method(
        lambda source, size, lam, generator: centroids(source.whole, size, generator),
        "the mean gradient of each k-means cluster",
        nested=False,
        random=True,
    ),
    "herding": Method(
        lambda source, size, lam, generator: herding(source.kernels.mean, size),
        "inputs whose average follows the mean gradient",
        nested=True,
    ),
    "randomly pivoted Cholesky": Method(
        lambda source, size, lam, generator: pivoted_cholesky(source.kernels.mean, size, generator),
        "inputs drawn by what earlier ones leave unexplained",
        nested=True,
        random=True,
    ),
    "kernel PCA": Method(
        lambda source, size, lam, generator: kernel_pca(source.whole, size),
        "the leading eigenvectors of the mean kernel",
        nested=True,
    ),
    "local-global": Method(
        lambda source, size, lam, generator: local_global_within(source.mean, source.decompositions, size),
        "the paper's: leading eigenvectors of each cluster, and the global ones that no cluster covers",
        nested=False,
    ),
    "ridge-optimal": Method(
        lambda source, size, lam, generator: ridge_optimal(source.kernels, source.whole, source.targets, lam, size),
        "rows that keep the ridge fit itself; exact from one per class on",
        nested=False,
        uses_targets=True,
        uses_ridge=True,
    ),
}
