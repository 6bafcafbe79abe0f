"""Class kernels from features: K^c = Φ^c Φ^cᵀ, K*^c = Φ*^c Φ^cᵀ."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dntk_core.base.errors import DNTKError
from dntk_core.kernels.gram import Crosses, Grams

# With more inputs than this, kernels are kept as the features they are products of.
LARGEST_DENSE = 4000


@dataclass(frozen=True)
class Kernels:
    """Per-class tangent kernels, NumPy float64.

    train: (C, m, m)  K^c between kernel inputs, symmetric to the last bit; of many inputs Gram matrices, not formed
    cross: (C, t, m)  K*^c between test inputs and kernel inputs; likewise
    """

    train: np.ndarray | Grams
    cross: np.ndarray | Crosses

    def __post_init__(self):
        if self.train.ndim != 3 or self.train.shape[1] != self.train.shape[2]:
            raise DNTKError(f"train kernels must be (C, m, m), got {self.train.shape}")
        C, m, _ = self.train.shape
        if self.cross.ndim != 3 or self.cross.shape[0] != C or self.cross.shape[2] != m:
            raise DNTKError(f"cross kernels must be ({C}, t, {m}), got {self.cross.shape}")

    @cached_property
    def mean(self) -> np.ndarray:
        """K̄ = (1/C) Σ_c K^c, (m, m)."""
        return self.train.mean(axis=0)

    @cached_property
    def scale(self) -> float:
        """tr(K̄)/m, the mean squared gradient norm: the unit in which ridges are given."""
        return float(self.mean.trace() / len(self.mean))

    @cached_property
    def traces(self) -> np.ndarray:
        """tr(K^c), (C,)."""
        return np.array([K.trace() for K in self.train])

    @property
    def dense(self) -> bool:
        """Whether the kernels are arrays."""
        return isinstance(self.train, np.ndarray)


def kernels_by_size(features: np.ndarray, test_features: np.ndarray) -> Kernels:
    """Form the kernels of up to LARGEST_DENSE inputs; of more, keep the features (C, m, k), (C, t, k) instead."""
    if features.shape[1] <= LARGEST_DENSE:
        return kernels_from_features(features, test_features)
    return Kernels(Grams(features), Crosses(test_features, features))


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
