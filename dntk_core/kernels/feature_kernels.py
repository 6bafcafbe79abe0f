"""The kernels of all classes of many inputs, kept as the features they are products of."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dntk_core.cache.rows import Array
from dntk_core.kernels.class_kernels import Blocks, ClassKernels, Kernels, checked, kernels_from_features, parts_of
from dntk_core.kernels.decomposition import Decomposition
from dntk_core.kernels.features import FeatureKernel, tiles, transposed_times
from dntk_core.kernels.modes import Modes, feature_modes
from dntk_core.kernels.rotated import Rotated, rotate, rotate_local
from dntk_core.kernels.spectrum import Spectrum

# With more inputs than this, kernels are kept as the features they are products of.
LARGEST_DENSE = 4000
# σ and V of every class.
Moments = tuple[tuple[np.ndarray, np.ndarray], ...]


@dataclass(frozen=True, eq=False)
class FeatureKernels(ClassKernels):
    """Class kernels of many inputs, never formed.

    features:      (C, m, k)  Φ^c, any float type, may lie in a file
    test_features: (C, t, k)  Φ*^c
    moments:       of every class, where they are at hand
    """

    features: Array
    test_features: Array
    moments: Moments | None = None

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
        found = tuple(FeatureKernel(self.features[c : c + 1]) for c in range(len(self.features)))
        for kernel, moment in zip(found, self.moments or (), strict=False):
            # In the place of what it would compute.
            kernel.__dict__["moment"] = moment
        return found

    def kernel(self, c: int | None = None) -> FeatureKernel:
        return FeatureKernel(self.features) if c is None else self._classes[checked(c, len(self.features))]

    @property
    def chosen(self) -> tuple[int, ...]:
        return tuple(range(len(self.features)))

    def own(self, c: int) -> FeatureKernel:
        return self.kernel(c)

    def rows_times(self, matrix: np.ndarray, blocks: Blocks | None = None) -> Iterator[np.ndarray]:
        for Phi, mixed in zip(self.features, self._mixed(matrix, blocks), strict=True):
            yield np.concatenate([tile @ mixed for _, tile in tiles(Phi)]).T

    def between(self, matrix: np.ndarray, blocks: Blocks | None = None) -> np.ndarray:
        return np.stack([M.T @ M for M in self._mixed(matrix, blocks)])

    def mixed(self, matrix: np.ndarray, blocks: Blocks | None = None) -> np.ndarray:
        found = np.empty((len(self.features), len(matrix), self.features.shape[2]), np.float32)
        for out, M in zip(found, self._mixed(matrix, blocks), strict=True):
            out[:] = M.T
        return found

    def rotate(self, parts: Decomposition, share: float, whole: np.ndarray) -> Rotated:
        return rotate_local(self.features, parts, share, whole)

    def rotate_whole(self, vectors: np.ndarray) -> np.ndarray:
        return rotate(self.features, None, vectors)

    def predict_mixed(self, mixed: Iterable[np.ndarray], beta: np.ndarray) -> Iterator[np.ndarray]:
        return self.predict_features(np.stack([transposed_times(*pair) for pair in zip(mixed, beta, strict=True)]))

    def predict_features(self, w: np.ndarray) -> Iterator[np.ndarray]:
        for test, each in zip(self.test_features, w, strict=True):
            yield np.concatenate([tile @ each for _, tile in tiles(test)])

    def _mixed(self, matrix: np.ndarray, blocks: Blocks | None) -> Iterator[np.ndarray]:
        """(AΦ^c)ᵀ for a matrix (s, m), class by class: (k, s)."""
        parts = [(rows, inputs, np.ascontiguousarray(part.T)) for rows, inputs, part in parts_of(matrix, blocks)]
        for Phi in self.features:
            mixed = np.empty((Phi.shape[1], len(matrix)))
            for rows, inputs, part in parts:
                # All inputs are read as they lie; some are gathered.
                mixed[:, rows] = transposed_times(Phi if len(inputs) == len(Phi) else Phi[inputs], part)
            yield mixed

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

    def cross_rows(self, c: int, index: np.ndarray) -> np.ndarray:
        test = np.asarray(self.test_features[checked(c, len(self.features))][index], dtype=np.float64).T
        return np.concatenate([tile @ test for _, tile in tiles(self.features[c])]).T

    def cross_times(self, c: int, V: np.ndarray) -> np.ndarray:
        W = transposed_times(self.features[checked(c, len(self.features))], V)
        return np.concatenate([tile @ W for _, tile in tiles(self.test_features[c])])

    def modes(self, targets: np.ndarray, spectra: Callable[[int | None], Spectrum] | None = None) -> tuple[Modes, ...]:
        columns = zip(self._classes, self.test_features, targets.T, strict=True)
        return tuple(feature_modes(kernel.features[0], test, kernel.moment, y) for kernel, test, y in columns)


def kernels_by_size(features: Array, test_features: Array) -> Kernels | FeatureKernels:
    """Form the kernels of up to LARGEST_DENSE inputs; of more, keep the features (C, m, k), (C, t, k) instead."""
    if features.shape[1] <= LARGEST_DENSE:
        return kernels_from_features(features, test_features)
    return FeatureKernels(features, test_features)
