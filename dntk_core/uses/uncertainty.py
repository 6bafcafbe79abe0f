"""The readout as a Gaussian process: how sure it is of each logit, from kernels alone.

Prior τ²K^c, noise τ²λ: the mean is the ridge readout at λ, the variance τ² (K^c(x, x) - k*ᵀ (K^c + λI)⁻¹ k*).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg import solve_triangular

from dntk_core.base.errors import DNTKError
from dntk_core.cache.rows import Array
from dntk_core.distill.mixing import Mixing
from dntk_core.kernels.class_kernels import ClassKernels
from dntk_core.kernels.features import tiles
from dntk_core.kernels.modes import Modes
from dntk_core.kernels.ridge import absolute_ridge
from dntk_core.readout.leave_one_out import inverse_diagonals, solutions
from dntk_core.readout.probabilities import softmax


def squared_norms(features: Array) -> np.ndarray:
    """K^c(x, x) = ‖φ^c(x)‖² of features (C, t, k): (C, t)."""
    return np.stack([np.concatenate([np.einsum("ik,ik->i", tile, tile) for _, tile in tiles(Phi)]) for Phi in features])


def full_variance(modes: Sequence[Modes], norms: np.ndarray, lam: float) -> np.ndarray:
    """K^c(x, x) - k*ᵀ (K^c + λI)⁻¹ k*, in units of τ²: norms (C, t) to (t, C)."""
    explained = [each.weigh_tests(1.0 / (each.values[:, None] + lam))[:, 0] for each in modes]
    return np.clip(norms - np.stack(explained), 0.0, None).T


def distilled_variance(kernels: ClassKernels, mixing: Mixing, norms: np.ndarray, lam: float) -> np.ndarray:
    """The same after seeing no more than the s mixed targets A(y + ε), whose noise is λAAᵀ: (t, C).

    K^c(x, x) - k*ᵀAᵀ (A(K^c + λI)Aᵀ)⁻¹ A k*. Less is seen, so it is never below that of the full kernel.
    """
    A = mixing.matrix
    noise, found = lam * (A @ A.T), np.empty(norms.shape)
    for c, gram in enumerate(kernels.between(A, mixing.blocks)):
        seen = kernels.cross_times(c, np.ascontiguousarray(A.T))
        half = solve_triangular(np.linalg.cholesky(gram + noise), seen.T, lower=True, check_finite=False)
        found[c] = norms[c] - np.sum(half**2, axis=0)
    return np.clip(found, 0.0, None).T


@dataclass(frozen=True)
class Noise:
    """How well each ridge explains the targets at the kernel inputs; no test data.

    ridges:     (q,)
    likelihood: (q,)    mean log density of a target, the best τ² of each class put in
    scale:      (q, C)  that τ², per class
    """

    ridges: np.ndarray
    likelihood: np.ndarray
    scale: np.ndarray

    @property
    def best(self) -> float:
        """The ridge that explains the targets best."""
        return float(self.ridges[np.argmax(self.likelihood)])

    def scale_at(self, ridge: float) -> np.ndarray:
        """τ² of each class at one of the ridges: (C,)."""
        return self.scale[int(np.argmin(np.abs(np.log(self.ridges) - np.log(ridge))))]


def marginal_likelihood(kernels: ClassKernels, modes: Sequence[Modes], ridges: Sequence[float]) -> Noise:
    """log p(y) = -½ (yᵀGy/τ² + m log τ² + log det(K + λI) + m log 2π), τ² = yᵀGy/m, over ridges (q,)."""
    m = kernels.shape[2]
    lams = np.array([absolute_ridge(kernels, ridge) for ridge in ridges])
    scale, likelihood = np.empty((len(lams), len(modes))), np.zeros(len(lams))
    for c, each in enumerate(modes):
        shifted = each.values[:, None] + lams
        scale[:, c] = (np.sum(each.load[:, None] ** 2 / shifted, axis=0) + np.sum(each.outside**2) / lams) / m
        logdet = np.sum(np.log(shifted), axis=0) + (m - len(each.values)) * np.log(lams)
        likelihood -= (1 + np.log(2 * np.pi * scale[:, c]) + logdet / m) / (2 * len(modes))
    return Noise(np.asarray(ridges), likelihood, scale)


def left_out_likelihood(kernels: ClassKernels, modes: Sequence[Modes], ridges: Sequence[float]) -> Noise:
    """Mean log density of each target given all others: residual α_i/G_ii, variance τ²/G_ii, τ² their ratio's mean."""
    lams = np.array([absolute_ridge(kernels, ridge) for ridge in ridges])
    scale, likelihood = np.empty((len(lams), len(modes))), np.zeros(len(lams))
    for c, each in enumerate(modes):
        inverse = inverse_diagonals(each, lams)
        scale[:, c] = np.mean(solutions(each, lams) ** 2 / inverse, axis=0)
        spread = np.log(2 * np.pi * scale[:, c]) - np.mean(np.log(inverse), axis=0)
        likelihood -= (1 + spread) / (2 * len(modes))
    return Noise(np.asarray(ridges), likelihood, scale)


NOISES = {"marginal likelihood": marginal_likelihood, "leave-one-out": left_out_likelihood}


def noise(name: str, kernels: ClassKernels, modes: Sequence[Modes], ridges: Sequence[float]) -> Noise:
    """Judge ridges by one of NOISES."""
    if name not in NOISES:
        raise DNTKError(f"the noise must be chosen by one of {', '.join(NOISES)}, got {name!r}")
    return NOISES[name](kernels, modes, ridges)


def probit(mean: np.ndarray, variance: np.ndarray) -> np.ndarray:
    """Class probabilities of Gaussian logits (t, C), MacKay's approximation: softmax(μ / √(1 + πσ²/8))."""
    return softmax(mean / np.sqrt(1.0 + np.pi / 8.0 * variance))
