"""A problem's kernels decomposed: spectra, clusters, properties (A) and (B), each found once and remembered."""

from collections.abc import Callable, Hashable
from typing import TypeVar

import numpy as np

from dntk_core.base.memo import Memo
from dntk_core.base.threads import each, one_blas_thread
from dntk_core.kernels.clusters import Embedding, cluster_embedding, embed
from dntk_core.kernels.decomposition import Decomposition, decompose, permuted
from dntk_core.kernels.kernel import Kernel
from dntk_core.kernels.modes import Modes
from dntk_core.kernels.ridge import absolute_ridge
from dntk_core.kernels.spectrum import Spectrum, spectrum
from dntk_core.kernels.structure import Containment, Coverage, containment_of, coverage_of
from dntk_core.readout.problem import Problem
from dntk_core.run.known import Known

# Random clusterings that the null model of properties (A) and (B) is drawn from.
PERMUTATIONS = 5
# Bytes that are remembered of few inputs, and of many: one decomposition of 200,000 inputs takes more than a gigabyte.
FEW_INPUTS, MANY_INPUTS = 2**29, 2**32

Value = TypeVar("Value")


class Decomposed:
    """A problem with what no readout changes at hand: what sliders start from, and the properties of clusters.

    `c` is a class 0..C-1, or None for the mean kernel K̄; `energy` one of ENERGIES.
    """

    def __init__(self, problem: Problem, seed: int = 0, limit: int | None = None, known: Known | None = None):
        """Wrap a problem; clusterings and random methods use the seed, the memory is bounded to `limit` bytes.

        limit: by default FEW_INPUTS, or MANY_INPUTS where kernels are kept as features
        known: what was computed ahead
        """
        self._known = known
        # Clusters that were analysed ahead are those of one seed.
        self.ahead = known if seed == 0 else None
        self.problem = problem
        self.seed = seed
        self._memo = Memo(limit or (FEW_INPUTS if problem.kernels.dense else MANY_INPUTS))

    def remember(self, key: Hashable, compute: Callable[[], Value]) -> Value:
        """Return the value of a key, computing it if it is not remembered."""
        with one_blas_thread:
            return self._memo.get(key, compute)

    def kernel(self, c: int | None = None) -> Kernel:
        """Return K̄ or K^c, of classes that have kernels of their own."""
        return self.problem.kernels.kernel() if c is None else self.problem.kernels.own(c)

    def lam(self, ridge: float) -> float:
        """Return λ, the absolute ridge."""
        return absolute_ridge(self.problem.kernels, ridge)

    # What sliders start from.

    def spectrum(self, c: int | None = None) -> Spectrum:
        """Decompose K̄ or K^c."""
        known = self._known.spectrum if self._known and c is None else lambda: None
        return self.remember(("spectrum", c), lambda: known() or spectrum(self.kernel(c)))

    def spectra(self) -> tuple[Spectrum, ...]:
        """Decompose every class kernel, of classes that have one of their own."""
        return tuple(each(self.spectrum, self.problem.kernels.chosen))

    def modes(self) -> tuple[Modes, ...]:
        """The full readout in the eigenvectors of every class kernel."""
        return self.remember(("modes",), lambda: self.problem.kernels.modes(self.problem.targets, self.spectrum))

    def embedding(self, c: int | None = None) -> Embedding:
        """Embed the inputs for clustering."""
        known = self._known.embedding if self._known and c is None else lambda: None
        return self.remember(("embedding", c), lambda: known() or embed(self.kernel(c)))

    def decomposition(self, H: int, c: int | None = None) -> Decomposition:
        """Cluster the inputs and decompose the kernel within each cluster."""
        known = self.ahead if c is None else None

        def find() -> Decomposition:
            if known and (found := known.decomposition(H, self.spectrum())) is not None:
                return found
            return decompose(self.kernel(c), cluster_embedding(self.embedding(c), H, self.seed), self.spectrum(c))

        return self.remember(("decomposition", H, c), find)

    def labels(self, H: int, c: int | None = None) -> np.ndarray:
        """Return the cluster of each input: (m,)."""
        return self.decomposition(H, c).labels

    # Properties (A) and (B), and the same for random clusters of the same sizes.

    def containment(self, H: int, epsilon: float, c: int | None = None, energy: str = "gradients") -> Containment:
        """Measure property (A)."""
        key = ("containment", H, epsilon, c, energy)
        return self.remember(key, lambda: containment_of(self.decomposition(H, c).by(energy), epsilon))

    def coverage(self, H: int, epsilon: float, c: int | None = None, energy: str = "gradients") -> Coverage:
        """Measure property (B)."""
        key = ("coverage", H, epsilon, c, energy)
        return self.remember(key, lambda: coverage_of(self.decomposition(H, c).by(energy), epsilon))

    def random_containments(
        self, H: int, epsilon: float, c: int | None = None, energy: str = "gradients"
    ) -> tuple[Containment, ...]:
        """Measure property (A) for PERMUTATIONS random clusterings: what any clusters of these sizes give."""
        key = ("random containments", H, epsilon, c, energy)
        return self.remember(key, lambda: tuple(containment_of(each, epsilon) for each in self._permuted(H, c, energy)))

    def random_coverages(
        self, H: int, epsilon: float, c: int | None = None, energy: str = "gradients"
    ) -> tuple[Coverage, ...]:
        """Measure property (B) for PERMUTATIONS random clusterings."""
        key = ("random coverages", H, epsilon, c, energy)
        return self.remember(key, lambda: tuple(coverage_of(each, epsilon) for each in self._permuted(H, c, energy)))

    def _permuted(self, H: int, c: int | None, energy: str) -> tuple[Decomposition, ...]:
        def draw() -> tuple[Decomposition, ...]:
            return tuple(permuted(self.kernel(c), self.labels(H, c), self.spectrum(c), PERMUTATIONS, self.seed))

        return tuple(each.by(energy) for each in self.remember(("permuted", H, c), draw))
