"""How alike two kernels of the same inputs are: centred kernel alignment, velocity, angles between eigenspaces."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dntk_core.base.errors import DNTKError

# Leading directions of two kernels whose angles are taken.
DIRECTIONS = 10


@dataclass(frozen=True, eq=False)
class Halves:
    """A kernel (m, m) estimated twice, from either half of its projected features; exact ones have both alike.

    Each half is unbiased by itself, so that a product of the one with the other has no noise squared in it.
    """

    one: np.ndarray
    other: np.ndarray

    @property
    def whole(self) -> np.ndarray:
        """K = (K' + K'')/2, (m, m)."""
        return (self.one + self.other) / 2


def halves(features: np.ndarray, exact: bool = False) -> Halves:
    """K' = 2Φ'Φ'ᵀ of the even columns and K'' of the odd ones, from features (m, k), or of several classes their mean.

    exact: whether the features are no projection but the gradients themselves
    """
    parts = features[None] if features.ndim == 2 else features
    if exact:
        K = _mean_product(parts)
        return Halves(K, K)
    return Halves(2 * _mean_product(parts[..., ::2]), 2 * _mean_product(parts[..., 1::2]))


def summed(parts: Sequence[Halves]) -> Halves:
    """The kernel Σ_g K_g of several groups of parameters."""
    return Halves(np.sum([part.one for part in parts], axis=0), np.sum([part.other for part in parts], axis=0))


def inner_products(kernels: Sequence[Halves]) -> np.ndarray:
    """⟨HK_aH, HK_bH⟩, debiased, of every two of T kernels of the same inputs: (T, T), H = I - 11ᵀ/m.

    With the noise of a projection in both, ⟨K_a, K_b⟩ is too large by its variance; ⟨K'_a, K''_b⟩ is not.
    """
    one, other = (np.stack([centred(getattr(each, side)).ravel() for each in kernels]) for side in ("one", "other"))
    products = one @ other.T
    return (products + products.T) / 2


def cka(products: np.ndarray) -> np.ndarray:
    """Centred kernel alignment ⟨K_a, K_b⟩/(‖K_a‖‖K_b‖) from inner products (T, T): (T, T), 1 for equal kernels.

    >>> cka(np.array([[4.0, 3.0], [3.0, 9.0]]))[0]
    array([1. , 0.5])
    """
    norms = np.sqrt(np.clip(np.diag(products), np.finfo(float).tiny, None))
    return np.clip(products / np.outer(norms, norms), -1.0, 1.0)


def velocity(similarity: np.ndarray, times: np.ndarray) -> np.ndarray:
    """Kernel velocity (1 - CKA(K_a, K_b))/(t_b - t_a) from each of T checkpoints to the next: (T - 1,).

    >>> velocity(np.array([[1.0, 0.6], [0.6, 1.0]]), np.array([0.0, 2.0]))
    array([0.2])
    """
    return (1.0 - np.diag(similarity, 1)) / np.diff(times)


def principal_angles(U: np.ndarray, V: np.ndarray) -> np.ndarray:
    """Angles in degrees between the spans of orthonormal columns U and V (m, r): (r,), ascending.

    >>> principal_angles(np.eye(3)[:, :2], np.eye(3)[:, 1:]).round(6)
    array([ 0., 90.])
    """
    if U.shape != V.shape:
        raise DNTKError(f"eigenspaces of one size are compared, got {U.shape} and {V.shape}")
    cosines = np.linalg.svd(U.T @ V, compute_uv=False)
    return np.degrees(np.arccos(np.clip(cosines, 0.0, 1.0)))


def leading(kernel: np.ndarray, directions: int = DIRECTIONS) -> np.ndarray:
    """The leading eigenvectors of a kernel (m, m): (m, r), r = `directions` or m."""
    return np.linalg.eigh(kernel)[1][:, ::-1][:, : min(directions, len(kernel))]


def agreement(logits: np.ndarray, other: np.ndarray) -> float:
    """Share of inputs on which two networks' outputs (t, C) choose the same class."""
    return float(np.mean(logits.argmax(axis=1) == other.argmax(axis=1)))


def centred(kernel: np.ndarray) -> np.ndarray:
    """HKH, (m, m)."""
    rows = kernel.mean(axis=0)
    return kernel - rows - kernel.mean(axis=1)[:, None] + rows.mean()


def _mean_product(parts: np.ndarray) -> np.ndarray:
    """The mean of ΦΦᵀ over features (n, m, k), in float64."""
    wide = (np.asarray(Phi, dtype=np.float64) for Phi in parts)
    return sum((X @ X.T for X in wide), np.zeros((parts.shape[1],) * 2)) / len(parts)
