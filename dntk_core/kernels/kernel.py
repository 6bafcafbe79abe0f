"""What every kernel of m inputs answers, and the one that is an array."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np


@dataclass(frozen=True)
class Eigenpairs:
    """Leading eigenpairs of a kernel.

    values:  (L,)    descending, at least 0
    vectors: (m, L)
    order:   how many eigenvalues may differ from 0; the others are known to be 0
    """

    values: np.ndarray
    vectors: np.ndarray
    order: int


class Kernel(Protocol):
    """A symmetric positive semi-definite kernel K of m inputs, formed or not."""

    @property
    def m(self) -> int:
        """How many inputs."""
        ...

    def times(self, V: np.ndarray) -> np.ndarray:
        """K V for V (m,) or (m, q)."""
        ...

    def rows(self, index: np.ndarray) -> np.ndarray:
        """K[index], (q, m)."""
        ...

    def block(self, rows: np.ndarray, columns: np.ndarray, dtype: type = np.float64) -> np.ndarray:
        """K[rows, columns], (p, q), multiplied in a type."""
        ...

    def diagonal(self) -> np.ndarray:
        """K_ii, (m,)."""
        ...

    def trace(self) -> float:
        """Σ_i K_ii."""
        ...

    def restrict(self, index: np.ndarray) -> "Kernel":
        """The kernel of some of the inputs."""
        ...

    def eigenpairs(self) -> Eigenpairs:
        """All eigenpairs, or as many leading ones as were found."""
        ...


@dataclass(frozen=True, eq=False)
class DenseKernel:
    """A kernel that is an array, (m, m)."""

    matrix: np.ndarray

    @property
    def m(self) -> int:
        return len(self.matrix)

    def times(self, V: np.ndarray) -> np.ndarray:
        return self.matrix @ V

    def rows(self, index: np.ndarray) -> np.ndarray:
        return self.matrix[index]

    def block(self, rows: np.ndarray, columns: np.ndarray, dtype: type = np.float64) -> np.ndarray:
        return self.matrix[np.ix_(rows, columns)]

    def diagonal(self) -> np.ndarray:
        return np.diag(self.matrix)

    def trace(self) -> float:
        return float(np.trace(self.matrix))

    def restrict(self, index: np.ndarray) -> "DenseKernel":
        return DenseKernel(self.block(index, index))

    def eigenpairs(self) -> Eigenpairs:
        values, vectors = np.linalg.eigh(self.matrix)
        return Eigenpairs(np.clip(values[::-1], 0.0, None), np.ascontiguousarray(vectors[:, ::-1]), self.m)


def as_kernel(kernel: np.ndarray | Kernel) -> Kernel:
    """Take an array (m, m) for the kernel that it is."""
    return DenseKernel(kernel) if isinstance(kernel, np.ndarray) else kernel


def row_means(kernel: Kernel) -> np.ndarray:
    """K 1/m, the mean of every row: (m,)."""
    return kernel.times(np.full(kernel.m, 1.0 / kernel.m))
