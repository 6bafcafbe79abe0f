"""The kernels of all classes, K^c = Φ^c Φ^cᵀ and K*^c = Φ*^c Φ^cᵀ: arrays, or the features they are products of."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from dntk_core.base.errors import DNTKError
from dntk_core.kernels.features import FeatureKernel, tiles, transposed_times
from dntk_core.kernels.kernel import DenseKernel, Kernel
from dntk_core.kernels.modes import Modes, dense_modes, feature_modes
from dntk_core.kernels.spectrum import Spectrum, spectrum

# With more inputs than this, kernels are kept as the features they are products of.
LARGEST_DENSE = 4000

# Rows of a mixing matrix and the inputs they mix: pairs of indices.
Blocks = Sequence[tuple[np.ndarray, np.ndarray]]


class ClassKernels(Protocol):
    """Per-class tangent kernels of m kernel inputs and t test inputs, C classes."""

    @property
    def shape(self) -> tuple[int, int, int]:
        """C, t, m."""
        ...

    @property
    def dense(self) -> bool:
        """Whether the kernels are arrays."""
        ...

    @property
    def scale(self) -> float:
        """tr(K̄)/m, the mean squared gradient norm: the unit in which ridges are given."""
        ...

    @property
    def traces(self) -> np.ndarray:
        """tr(K^c), (C,)."""
        ...

    def kernel(self, c: int | None = None) -> Kernel:
        """K^c, or the mean kernel K̄ = (1/C) Σ_c K^c."""
        ...

    def rows_times(self, matrix: np.ndarray, blocks: Blocks | None = None) -> Iterator[np.ndarray]:
        """A K^c for a matrix (s, m), class by class: (s, m)."""
        ...

    def between(self, matrix: np.ndarray, blocks: Blocks | None = None) -> np.ndarray:
        """A K^c Aᵀ for a matrix (s, m): (C, s, s)."""
        ...

    def solve(self, targets: np.ndarray, lam: float | np.ndarray) -> np.ndarray:
        """α^c = (K^c + λI)⁻¹ y_c for targets (m, C) and one λ, or one for each class (C,): (C, m)."""
        ...

    def predict(self, alpha: np.ndarray) -> Iterator[np.ndarray]:
        """K*^c α^c for coefficients (C, m, q), class by class: (t, q)."""
        ...

    def modes(self, targets: np.ndarray, spectra: Callable[[int], Spectrum] | None = None) -> tuple[Modes, ...]:
        """The full readout of targets (m, C) in the eigenvectors of every class kernel; `spectra` may be at hand."""
        ...


@dataclass(frozen=True)
class Kernels(ClassKernels):
    """Class kernels as arrays, NumPy float64.

    train: (C, m, m)  K^c between kernel inputs, symmetric to the last bit
    cross: (C, t, m)  K*^c between test inputs and kernel inputs
    """

    train: np.ndarray
    cross: np.ndarray

    def __post_init__(self):
        if self.train.ndim != 3 or self.train.shape[1] != self.train.shape[2]:
            raise DNTKError(f"train kernels must be (C, m, m), got {self.train.shape}")
        C, m, _ = self.train.shape
        if self.cross.ndim != 3 or self.cross.shape[0] != C or self.cross.shape[2] != m:
            raise DNTKError(f"cross kernels must be ({C}, t, {m}), got {self.cross.shape}")

    @property
    def shape(self) -> tuple[int, int, int]:
        C, t, m = self.cross.shape
        return C, t, m

    @property
    def dense(self) -> bool:
        return True

    @cached_property
    def mean(self) -> np.ndarray:
        """K̄ = (1/C) Σ_c K^c, (m, m)."""
        return self.train.mean(axis=0)

    @cached_property
    def scale(self) -> float:
        return float(np.trace(self.mean) / len(self.mean))

    @cached_property
    def traces(self) -> np.ndarray:
        return np.trace(self.train, axis1=1, axis2=2)

    def kernel(self, c: int | None = None) -> Kernel:
        return DenseKernel(self.mean if c is None else self.train[_checked(c, len(self.train))])

    def rows_times(self, matrix: np.ndarray, blocks: Blocks | None = None) -> Iterator[np.ndarray]:
        parts = _parts(matrix, blocks)
        for K in self.train:
            product = np.empty(matrix.shape)
            for rows, inputs, part in parts:
                product[rows] = part @ K[inputs]
            yield product

    def between(self, matrix: np.ndarray, blocks: Blocks | None = None) -> np.ndarray:
        parts = _parts(matrix, blocks)
        found = np.empty((len(self.train), len(matrix), len(matrix)))
        for G, product in zip(found, self.rows_times(matrix, blocks), strict=True):
            for rows, inputs, part in parts:
                G[:, rows] = product[:, inputs] @ part.T
        return found

    def solve(self, targets: np.ndarray, lam: float | np.ndarray) -> np.ndarray:
        shifted = self.train + np.asarray(lam)[..., None, None] * np.eye(len(targets))
        return np.stack([cho_solve(cho_factor(S), y) for S, y in zip(shifted, targets.T, strict=True)])

    def predict(self, alpha: np.ndarray) -> Iterator[np.ndarray]:
        return (K @ a for K, a in zip(self.cross, alpha, strict=True))

    def modes(self, targets: np.ndarray, spectra: Callable[[int], Spectrum] | None = None) -> tuple[Modes, ...]:
        found = map(spectra or (lambda c: spectrum(self.train[c])), range(len(self.train)))
        return tuple(dense_modes(*each) for each in zip(found, self.cross, targets.T, strict=True))


@dataclass(frozen=True, eq=False)
class FeatureKernels(ClassKernels):
    """Class kernels of many inputs, never formed.

    features:      (C, m, k)  Φ^c, any float type, may be memory-mapped
    test_features: (C, t, k)  Φ*^c
    """

    features: np.ndarray
    test_features: np.ndarray

    @property
    def shape(self) -> tuple[int, int, int]:
        return len(self.features), self.test_features.shape[1], self.features.shape[1]

    @property
    def dense(self) -> bool:
        return False

    @cached_property
    def scale(self) -> float:
        return float(self.traces.mean() / self.features.shape[1])

    @cached_property
    def traces(self) -> np.ndarray:
        return np.array([self.kernel(c).trace() for c in range(len(self.features))])

    @cached_property
    def _classes(self) -> tuple[FeatureKernel, ...]:
        return tuple(FeatureKernel(self.features[c : c + 1]) for c in range(len(self.features)))

    def kernel(self, c: int | None = None) -> FeatureKernel:
        return FeatureKernel(self.features) if c is None else self._classes[_checked(c, len(self.features))]

    def rows_times(self, matrix: np.ndarray, blocks: Blocks | None = None) -> Iterator[np.ndarray]:
        for Phi in self.features:
            mixed = transposed_times(Phi, np.ascontiguousarray(matrix.T))
            yield np.concatenate([tile @ mixed for _, tile in tiles(Phi)]).T

    def between(self, matrix: np.ndarray, blocks: Blocks | None = None) -> np.ndarray:
        mixed = (transposed_times(Phi, np.ascontiguousarray(matrix.T)) for Phi in self.features)
        return np.stack([M.T @ M for M in mixed])

    def solve(self, targets: np.ndarray, lam: float | np.ndarray) -> np.ndarray:
        """In k dimensions: α = (y - Φw)/λ, w = V (Σ + λI)⁻¹ Vᵀ Φᵀy."""
        alpha = np.empty((len(self.features), len(targets)))
        lams = np.broadcast_to(lam, len(alpha))
        for a, kernel, y, own in zip(alpha, self._classes, targets.T, lams, strict=True):
            Phi, (values, V) = kernel.features[0], kernel.moment
            w = V @ (V.T @ transposed_times(Phi, y) / (values + own))
            for rows, tile in tiles(Phi):
                a[rows] = (y[rows] - tile @ w) / own
        return alpha

    def predict(self, alpha: np.ndarray) -> Iterator[np.ndarray]:
        for Phi, test, a in zip(self.features, self.test_features, alpha, strict=True):
            w = transposed_times(Phi, a)
            yield np.concatenate([tile @ w for _, tile in tiles(test)])

    def modes(self, targets: np.ndarray, spectra: Callable[[int], Spectrum] | None = None) -> tuple[Modes, ...]:
        columns = zip(self._classes, self.test_features, targets.T, strict=True)
        return tuple(feature_modes(kernel.features[0], test, kernel.moment, y) for kernel, test, y in columns)


def _parts(matrix: np.ndarray, blocks: Blocks | None) -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Rows, inputs and the part of a matrix (s, m) in each block.

    Rows of one cluster mix only its inputs; leaving out the zeros makes products some H times cheaper.
    """
    s, m = matrix.shape
    parts = [(np.arange(s), np.arange(m))] if blocks is None else blocks
    return [(rows, inputs, matrix[np.ix_(rows, inputs)]) for rows, inputs in parts]


def _checked(c: int, C: int) -> int:
    if not 0 <= c < C:
        raise DNTKError(f"the class must lie in 0..{C - 1}, got {c}")
    return c


def kernels_by_size(features: np.ndarray, test_features: np.ndarray) -> Kernels | FeatureKernels:
    """Form the kernels of up to LARGEST_DENSE inputs; of more, keep the features (C, m, k), (C, t, k) instead."""
    if features.shape[1] <= LARGEST_DENSE:
        return kernels_from_features(features, test_features)
    return FeatureKernels(features, test_features)


def kernels_from_features(features: np.ndarray, test_features: np.ndarray) -> Kernels:
    """Form K^c = Φ^c Φ^cᵀ and K*^c = Φ*^c Φ^cᵀ in float64.

    features: (C, m, k), test_features: (C, t, k), any float type, may be memory-mapped
    """
    C, m, _ = features.shape
    train = np.empty((C, m, m))
    cross = np.empty((C, test_features.shape[1], m))
    for c in range(C):
        Phi = np.asarray(features[c], dtype=np.float64)
        train[c] = Phi @ Phi.T
        # BLAS may differ in the last bit above and below the diagonal.
        lower = np.tril(train[c])
        train[c] = lower + np.tril(lower, -1).T
        cross[c] = np.asarray(test_features[c], dtype=np.float64) @ Phi.T
    return Kernels(train, cross)
