"""Whether a kernel is fit for its targets: alignment, where the targets lie, KARE, and labels that look wrong."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dntk_core.kernels.class_kernels import ClassKernels
from dntk_core.kernels.kernel import Kernel, row_means
from dntk_core.kernels.modes import Modes
from dntk_core.kernels.ridge import absolute_ridge
from dntk_core.readout.leave_one_out import inverse_diagonals, solutions


def alignment(kernel: Kernel, values: np.ndarray, y: np.ndarray) -> float:
    """Centred kernel–target alignment ⟨HKH, yyᵀ⟩ / (‖HKH‖_F ‖Hy‖²), H = I - 11ᵀ/m; values are all eigenvalues ≠ 0."""
    centred, means = y - y.mean(), row_means(kernel)
    # ‖HKH‖² = ‖K‖² - 2m Σ_i k̄_i² + (Σ_i k̄_i)²
    norm = np.sum(values**2) - 2 * kernel.m * np.sum(means**2) + np.sum(means) ** 2
    length = float(centred @ centred)
    if norm <= 0 or length <= 0:
        return 0.0
    return float(centred @ kernel.times(centred) / (np.sqrt(norm) * length))


@dataclass(frozen=True)
class Where:
    """How much lies in the leading directions of one class, cumulated.

    targets: (r,)  Σ_{i<=j} (u_iᵀy)² / ‖y‖²
    kernel:  (r,)  Σ_{i<=j} σ_i / tr K
    """

    targets: np.ndarray
    kernel: np.ndarray


def where_targets_lie(modes: Modes) -> Where:
    """Cumulate targets and eigenvalues over the directions of a kernel."""
    whole = float(np.sum(modes.load**2) + np.sum(modes.outside**2))
    trace = float(modes.values.sum())
    return Where(np.cumsum(modes.load**2) / (whole or 1.0), np.cumsum(modes.values) / (trace or 1.0))


def kare(kernels: ClassKernels, modes: Sequence[Modes], ridges: Sequence[float]) -> np.ndarray:
    """The kernel alignment risk estimator (Jacot et al. 2020), mean over classes, at ridges (q,): (q,).

    m yᵀG²y / (tr G)², G = (K + λI)⁻¹: the risk on unseen inputs, from the kernel inputs alone; the same number as
    generalised cross-validation.
    """
    lams = np.array([absolute_ridge(kernels, ridge) for ridge in ridges])
    m, total = kernels.shape[2], np.zeros(len(lams))
    for each in modes:
        shifted = each.values[:, None] + lams
        energy = np.sum((each.load[:, None] / shifted) ** 2, axis=0) + np.sum(each.outside**2) / lams**2
        trace = np.sum(1.0 / shifted, axis=0) + (m - len(each.values)) / lams
        total += m * energy / trace**2
    return total / len(modes)


@dataclass(frozen=True)
class Suspicion:
    """Labels of m kernel inputs, each judged by the readout of all other labels.

    margin:    (m,)    left-out score of the label less the best other; below 0 the others outvote it
    vote:      (m,)    the class that the others vote for
    votes:     (m, C)  their scores
    influence: (m,)    how much its own label adds to its own score
    """

    margin: np.ndarray
    vote: np.ndarray
    votes: np.ndarray
    influence: np.ndarray

    @property
    def order(self) -> np.ndarray:
        """Most suspicious first, (m,)."""
        return np.argsort(self.margin, kind="stable")


def suspicion(labels: np.ndarray, targets: np.ndarray, left_out: np.ndarray, fitted: np.ndarray) -> Suspicion:
    """Judge labels (m,) by left-out residuals (m, C) of one-hot targets, and by what all labels fit (m, C)."""
    votes = targets - left_out
    own, rest = np.arange(len(labels)), votes.copy()
    rest[own, labels] = -np.inf
    return Suspicion(
        votes[own, labels] - rest.max(axis=1),
        votes.argmax(axis=1),
        votes,
        fitted[own, labels] - votes[own, labels],
    )


def left_out_and_fitted(modes: Sequence[Modes], targets: np.ndarray, lam: float) -> tuple[np.ndarray, np.ndarray]:
    """Residuals y_i - f_{-i}(x_i) = α_i/G_ii and fits f(x_i) = y_i - λα_i at one λ: (m, C) each."""
    at = np.array([lam])
    alpha = np.stack([solutions(each, at)[:, 0] for each in modes], axis=1)
    inverse = np.stack([inverse_diagonals(each, at)[:, 0] for each in modes], axis=1)
    return alpha / inverse, targets - lam * alpha
