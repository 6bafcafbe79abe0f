"""What the kernels of all classes answer, K^c = Φ^c Φ^cᵀ and K*^c = Φ*^c Φ^cᵀ, and those that are arrays."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from dntk_core.base.errors import DNTKError
from dntk_core.base.threads import each
from dntk_core.cache.rows import Array
from dntk_core.kernels.decomposition import Decomposition
from dntk_core.kernels.kernel import DenseKernel, Kernel
from dntk_core.kernels.modes import Modes, dense_modes
from dntk_core.kernels.rotated import Rotated
from dntk_core.kernels.spectrum import Spectrum, spectrum

NOT_KEPT = "the features of these kernels are not kept"
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
    def shared(self) -> bool:
        """Whether all classes have the same kernel."""
        return False

    @property
    def scale(self) -> float:
        """tr(K̄)/m, the mean squared gradient norm: the unit in which ridges are given."""
        ...

    @property
    def traces(self) -> np.ndarray:
        """tr(K^c), (C,)."""
        ...

    def kernel(self, c: int | None = None) -> Kernel:
        """K^c as class c's readout has it, or the mean kernel K̄ = (1/C) Σ_c K^c."""
        ...

    @property
    def chosen(self) -> tuple[int, ...]:
        """The classes that have kernels of their own."""
        ...

    def own(self, c: int) -> Kernel:
        """K^c to look at; where classes share a kernel, only that of a chosen class."""
        ...

    def rows_times(self, matrix: np.ndarray, blocks: Blocks | None = None) -> Iterator[np.ndarray]:
        """A K^c for a matrix (s, m), class by class: (s, m)."""
        ...

    def between(self, matrix: np.ndarray, blocks: Blocks | None = None) -> np.ndarray:
        """A K^c Aᵀ for a matrix (s, m): (C, s, s)."""
        ...

    def mixed(self, matrix: np.ndarray, blocks: Blocks | None = None) -> np.ndarray | None:
        """A Φ^c for a matrix (s, m), (C, s, k), where features are kept; None where only their products are."""
        ...

    def rotate_whole(self, vectors: np.ndarray) -> np.ndarray | None:
        """VᵀΦ^c for vectors (m, g), (C, g, k); None where features are not kept."""
        return None

    def rotate(self, parts: Decomposition, share: float, whole: np.ndarray) -> Rotated:
        """Meet the features with local eigenvectors that hold a share of the variance; beside rows of global ones."""
        raise DNTKError(NOT_KEPT)

    def predict_mixed(self, mixed: Iterable[np.ndarray], beta: np.ndarray) -> Iterator[np.ndarray]:
        """Φ*^c (AΦ^c)ᵀ β^c for mixed features (C, s, k) and weights (C, s, q), class by class: (t, q)."""
        ...

    def predict_features(self, w: np.ndarray) -> Iterator[np.ndarray]:
        """Φ*^c w^c for weights of features (C, k, q), where features are kept, class by class: (t, q)."""
        raise DNTKError(NOT_KEPT)

    def solve(self, targets: np.ndarray, lam: float | np.ndarray) -> np.ndarray:
        """α^c = (K^c + λI)⁻¹ y_c for targets (m, C) and one λ, or one for each class (C,): (C, m)."""
        ...

    def predict(self, alpha: np.ndarray) -> Iterator[np.ndarray]:
        """K*^c α^c for coefficients (C, m, q), class by class: (t, q)."""
        ...

    def cross_rows(self, c: int, index: np.ndarray) -> np.ndarray:
        """K*^c of some test inputs: (q, m)."""
        ...

    def cross_times(self, c: int, V: np.ndarray) -> np.ndarray:
        """K*^c V for V (m, q): (t, q)."""
        ...

    def modes(self, targets: np.ndarray, spectra: Callable[[int | None], Spectrum] | None = None) -> tuple[Modes, ...]:
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
        return DenseKernel(self.mean if c is None else self.train[checked(c, len(self.train))])

    @property
    def chosen(self) -> tuple[int, ...]:
        return tuple(range(len(self.train)))

    def own(self, c: int) -> Kernel:
        return self.kernel(c)

    def rows_times(self, matrix: np.ndarray, blocks: Blocks | None = None) -> Iterator[np.ndarray]:
        parts = parts_of(matrix, blocks)
        for K in self.train:
            product = np.empty(matrix.shape)
            for rows, inputs, part in parts:
                product[rows] = part @ K[inputs]
            yield product

    def between(self, matrix: np.ndarray, blocks: Blocks | None = None) -> np.ndarray:
        parts = parts_of(matrix, blocks)
        found = np.empty((len(self.train), len(matrix), len(matrix)))
        for G, product in zip(found, self.rows_times(matrix, blocks), strict=True):
            for rows, inputs, part in parts:
                G[:, rows] = product[:, inputs] @ part.T
        return found

    def mixed(self, matrix: np.ndarray, blocks: Blocks | None = None) -> None:
        return None

    def predict_mixed(self, mixed: Iterable[np.ndarray], beta: np.ndarray) -> Iterator[np.ndarray]:
        raise DNTKError(NOT_KEPT)

    def solve(self, targets: np.ndarray, lam: float | np.ndarray) -> np.ndarray:
        shifted = self.train + np.asarray(lam)[..., None, None] * np.eye(len(targets))
        return np.stack([cho_solve(cho_factor(S), y) for S, y in zip(shifted, targets.T, strict=True)])

    def predict(self, alpha: np.ndarray) -> Iterator[np.ndarray]:
        return (K @ a for K, a in zip(self.cross, alpha, strict=True))

    def cross_rows(self, c: int, index: np.ndarray) -> np.ndarray:
        return self.cross[checked(c, len(self.cross))][index]

    def cross_times(self, c: int, V: np.ndarray) -> np.ndarray:
        return self.cross[checked(c, len(self.cross))] @ V

    def modes(self, targets: np.ndarray, spectra: Callable[[int | None], Spectrum] | None = None) -> tuple[Modes, ...]:
        found = each(spectra or (lambda c: spectrum(self.train[c])), range(len(self.train)))
        return tuple(dense_modes(*parts) for parts in zip(found, self.cross, targets.T, strict=True))


def parts_of(matrix: np.ndarray, blocks: Blocks | None) -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Rows, inputs and the part of a matrix (s, m) in each block.

    Rows of one cluster mix only its inputs; leaving out the zeros makes products some H times cheaper.
    """
    s, m = matrix.shape
    parts = [(np.arange(s), np.arange(m))] if blocks is None else blocks
    return [(rows, inputs, matrix[np.ix_(rows, inputs)]) for rows, inputs in parts]


def checked(c: int, C: int) -> int:
    if not 0 <= c < C:
        raise DNTKError(f"the class must lie in 0..{C - 1}, got {c}")
    return c


def kernels_from_features(features: Array, test_features: Array) -> Kernels:
    """Form K^c = Φ^c Φ^cᵀ and K*^c = Φ*^c Φ^cᵀ in float64.

    features: (C, m, k), test_features: (C, t, k), any float type, may lie in a file
    """
    C, m, _ = features.shape
    train = np.empty((C, m, m))
    cross = np.empty((C, test_features.shape[1], m))

    def form(c: int) -> None:
        Phi = np.asarray(features[c], dtype=np.float64)
        train[c] = Phi @ Phi.T
        # BLAS may differ in the last bit above and below the diagonal.
        lower = np.tril(train[c])
        train[c] = lower + np.tril(lower, -1).T
        cross[c] = np.asarray(test_features[c], dtype=np.float64) @ Phi.T

    each(form, range(C))
    return Kernels(train, cross)
