"""One kernel for the readouts of all classes, of many inputs: kept as features, read out by its leading eigenpairs.

K̄ = ΦΦᵀ has q·k features, too many to solve with. With its leading eigenpairs U (m, L), σ (L,) and what test inputs
see of them, S = K̄*U (t, L), it is UΣUᵀ, and K̄* is SUᵀ: exactly where all pairs are known; what leading ones leave out
of the trace, readouts do without.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dntk_core.cache.rows import Array
from dntk_core.kernels.class_kernels import Blocks, ClassKernels, checked
from dntk_core.kernels.feature_kernels import FeatureKernels
from dntk_core.kernels.features import FeatureKernel, tiles
from dntk_core.kernels.kernel import Eigenpairs, Kernel
from dntk_core.kernels.modes import Modes
from dntk_core.kernels.shared import Shared
from dntk_core.kernels.spectrum import Spectrum


@dataclass(frozen=True)
class Leading:
    """Leading eigenpairs of K̄, and S = K̄*U (t, L)."""

    pairs: Eigenpairs
    seen: np.ndarray


@dataclass(frozen=True, eq=False)
class OnceDecomposed(FeatureKernel):
    """A kernel that is asked for its eigenpairs again and again; `known` where they are at hand."""

    known: Eigenpairs | None = None

    @cached_property
    def _pairs(self) -> Eigenpairs:
        return self.known or super().eigenpairs()

    def eigenpairs(self) -> Eigenpairs:
        return self._pairs


@dataclass(frozen=True, eq=False)
class SharedFeatures(Shared):
    """A shared kernel of many inputs, never formed.

    sums:      (q, m, k)  features whose kernels' mean is K̄, may lie in a file
    test_sums: (q, t, k)
    known:     leading eigenpairs, where they are at hand
    """

    sums: Array
    test_sums: Array
    theirs: ClassKernels
    theirs_of: tuple[int, ...]
    classes: int
    known: Leading | None = None

    @property
    def shape(self) -> tuple[int, int, int]:
        return self.classes, self.test_sums.shape[1], self.sums.shape[1]

    @property
    def dense(self) -> bool:
        return False

    @property
    def scale(self) -> float:
        return float(self.traces[0] / self.sums.shape[1])

    @cached_property
    def _whole(self) -> OnceDecomposed:
        return OnceDecomposed(self.sums, self.known.pairs if self.known else None)

    def kernel(self, c: int | None = None) -> Kernel:
        if c is not None:
            checked(c, self.classes)
        return self._whole

    @property
    def _values(self) -> np.ndarray:
        return self._whole.eigenpairs().values

    @property
    def _vectors(self) -> np.ndarray:
        return self._whole.eigenpairs().vectors

    @cached_property
    def _seen(self) -> np.ndarray:
        """S = K̄*U, (t, L)."""
        if self.known:
            return self.known.seen
        each = FeatureKernels(self.sums, self.test_sums)
        found = np.zeros((self.test_sums.shape[1], len(self._values)))
        for i in range(len(self.sums)):
            found += each.cross_times(i, self._vectors)
        return found / len(self.sums)

    def rows_times(self, matrix: np.ndarray, blocks: Blocks | None = None) -> Iterator[np.ndarray]:
        product = (matrix @ self._vectors * self._values) @ self._vectors.T
        return (product for _ in range(self.classes))

    def between(self, matrix: np.ndarray, blocks: Blocks | None = None) -> np.ndarray:
        half = matrix @ self._vectors
        return self.for_all(half * self._values @ half.T)

    def solve(self, targets: np.ndarray, lam: float | np.ndarray) -> np.ndarray:
        """α = U (Σ + λI)⁻¹ Uᵀy + (y - UUᵀy)/λ."""
        load, lams = self._vectors.T @ targets, np.broadcast_to(lam, self.classes)
        weights = load / (self._values[:, None] + lams) - load / lams
        return (self._vectors @ weights + targets / lams).T

    def predict(self, alpha: np.ndarray) -> Iterator[np.ndarray]:
        return (self._seen @ (self._vectors.T @ a) for a in alpha)

    def cross_rows(self, c: int, index: np.ndarray) -> np.ndarray:
        return self._seen[index] @ self._vectors.T

    def cross_times(self, c: int, V: np.ndarray) -> np.ndarray:
        return self._seen @ (self._vectors.T @ V)

    def modes(self, targets: np.ndarray, spectra: Callable[[int | None], Spectrum] | None = None) -> tuple[Modes, ...]:
        load = self._vectors.T @ targets
        outside = targets - self._vectors @ load
        return tuple(
            SeenModes(self._values, b, left, self._vectors, self._seen)
            for b, left in zip(load.T, outside.T, strict=True)
        )


@dataclass(frozen=True, eq=False)
class SeenModes:
    """The readout of one class in eigenvectors U (m, L), of which test inputs see K*U (t, L)."""

    values: np.ndarray
    load: np.ndarray
    outside: np.ndarray
    vectors: np.ndarray
    seen: np.ndarray

    @property
    def nbytes(self) -> int:
        # Eigenvectors are the kernel's own, which holds them for every class.
        return self.load.nbytes + self.outside.nbytes

    def predict(self, c: np.ndarray) -> np.ndarray:
        return self.seen @ c

    def combine(self, c: np.ndarray) -> np.ndarray:
        return self.vectors @ c

    def weigh(self, w: np.ndarray) -> np.ndarray:
        return np.concatenate([tile**2 @ w for _, tile in tiles(self.vectors)])

    def solve_tests(self, index: np.ndarray, lam: float) -> np.ndarray:
        return (self.seen[index] / (self.values + lam)) @ self.vectors.T

    def weigh_tests(self, w: np.ndarray) -> np.ndarray:
        return self.seen**2 @ w
