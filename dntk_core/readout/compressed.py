"""A mixing applied to a problem: what remains is a ridge solve of every class."""

from dataclasses import dataclass
from functools import cached_property
from math import prod

import numpy as np
from scipy.linalg import solve_triangular

from dntk_core.base.errors import DNTKError
from dntk_core.kernels.rotated import Chosen, Products
from dntk_core.kernels.shared import once
from dntk_core.readout.nearby import Factors


@dataclass(frozen=True)
class Compressed:
    """A mixing applied to a problem: all that a ridge solve (G^c + λI) w^c = b^c needs.

    matrix:  (s, m)     A; None where `mixed` does without
    gram:    (C, s, s)  G^c, or what makes them class by class
    targets: (C, s)     b^c
    basis:   (C, s, s)  L with β^c = L⁻ᵀ w^c; None where β^c = w^c
    mixed:   (C, s, k)  AΦ^c, or what makes it class by class: predicts without a look at the m inputs; None where only
                        kernels are kept
    """

    matrix: np.ndarray | None
    gram: np.ndarray | Products
    targets: np.ndarray
    basis: np.ndarray | None = None
    mixed: np.ndarray | Chosen | None = None

    @property
    def size(self) -> int:
        """s, the number of distilled gradients."""
        return self.gram.shape[1]

    @property
    def nbytes(self) -> int:
        """With the factors that one ridge leaves to others."""
        factors = 0 if self.needs_inputs else 8 * prod(self.gram.shape)
        arrays = (self.matrix, self.gram, self.targets, self.basis, self.mixed)
        return factors + sum(each.nbytes for each in arrays if isinstance(each, np.ndarray))

    @property
    def shared(self) -> bool:
        """Whether all classes see the same G."""
        return isinstance(self.gram, np.ndarray) and self.gram.strides[0] == 0

    @property
    def needs_inputs(self) -> bool:
        """Whether predictions go through the weights of the original inputs."""
        return self.mixed is None

    @cached_property
    def factors(self) -> Factors:
        """What one ridge leaves to those near it."""
        return Factors()

    @cached_property
    def ends(self) -> np.ndarray:
        """Smallest and largest eigenvalue of every G^c: (C, 2). No ridge changes them."""
        return eigenvalue_ends(np.asarray(self.gram))

    def lift(self, c: int, w: np.ndarray) -> np.ndarray:
        """Turn solutions w (s, q) of class c into weights of the original inputs, Aᵀβ: (m, q)."""
        if self.matrix is None:
            raise DNTKError("the weights of the original inputs are not kept; compress the mixing itself")
        return self.matrix.T @ self.weights(c, w)

    def weights(self, c: int, w: np.ndarray) -> np.ndarray:
        """Turn solutions w (s, q) of class c into weights of the distilled gradients, β: (s, q)."""
        if self.basis is None:
            return w
        return solve_triangular(self.basis[c], w, trans=1, lower=True, check_finite=False)


@dataclass(frozen=True)
class Featured(Compressed):
    """More rows than features: w^c are weights of the features, G^c = (AΦ^c)ᵀAΦ^c (C, k, k), b^c = (AΦ^c)ᵀA y_c (C, k).

    (AΦ)ᵀ(AΦΦᵀAᵀ + λI)⁻¹ = ((AΦ)ᵀAΦ + λI)⁻¹(AΦ)ᵀ: the same predictions from smaller matrices.
    rows: s
    """

    rows: int = 0

    @property
    def size(self) -> int:
        return self.rows

    @property
    def needs_inputs(self) -> bool:
        return False

    @cached_property
    def ends(self) -> np.ndarray:
        """Of AK^cAᵀ, which is singular: it has more rows than there are features."""
        found = eigenvalue_ends(np.asarray(self.gram))
        found[:, 0] = 0.0
        return found


def eigenvalue_ends(gram: np.ndarray) -> np.ndarray:
    """Return the smallest and the largest eigenvalue of every matrix (C, s, s), at least 0: (C, 2)."""
    return np.clip(once(np.linalg.eigvalsh, gram)[:, [0, -1]], 0.0, None)
