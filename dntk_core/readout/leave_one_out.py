"""What the full readout says of each kernel input when it is fitted to all others: no test data, no refit."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dntk_core.kernels.class_kernels import ClassKernels
from dntk_core.kernels.modes import Modes
from dntk_core.kernels.ridge import absolute_ridge

# Where ridges are looked for.
RIDGES = tuple(float(f"{digit}e{power}") for power in range(-8, 1) for digit in (1, 3))


@dataclass(frozen=True)
class LeaveOneOut:
    """The full readout at q ridges, each kernel input left out in turn.

    ridges:   (q,)
    mse:      (q,)  mean over inputs and classes of (f_{-i}(x_i) - y_i)²
    fidelity: (q,)  share of inputs where argmax f_{-i} = argmax y_i
    accuracy: (q,)  share of inputs where argmax f_{-i} is the class
    """

    ridges: np.ndarray
    mse: np.ndarray
    fidelity: np.ndarray
    accuracy: np.ndarray

    @property
    def best(self) -> float:
        """The ridge of the least error."""
        return float(self.ridges[np.argmin(self.mse)])


def solutions(modes: Modes, lams: np.ndarray) -> np.ndarray:
    """Solve α = (K + λI)⁻¹ y of one class at every λ (q,): (m, q)."""
    return modes.combine(modes.load[:, None] / (modes.values[:, None] + lams)) + modes.outside[:, None] / lams


def inverse_diagonals(modes: Modes, lams: np.ndarray) -> np.ndarray:
    """Return G_ii of G = (K + λI)⁻¹ of one class at every λ (q,): (m, q)."""
    # Eigenvectors of eigenvalue 0 make up what the others leave of u_i1² + … + u_im² = 1; one pass weighs both.
    weights = np.column_stack([np.ones(len(modes.values)), 1.0 / (modes.values[:, None] + lams)])
    known, found = np.split(modes.weigh(weights), [1], axis=1)
    return found + np.clip(1.0 - known, 0.0, None) / lams


def residuals(modes: Modes, lams: np.ndarray) -> np.ndarray:
    """Return y_i - f_{-i}(x_i) = α_i / G_ii with G = (K + λI)⁻¹, of one class at every λ (q,): (m, q)."""
    return solutions(modes, lams) / inverse_diagonals(modes, lams)


def leave_one_out(
    kernels: ClassKernels,
    targets: np.ndarray,
    ridges: Sequence[float],
    modes: Sequence[Modes] | None = None,
    classes: np.ndarray | None = None,
) -> LeaveOneOut:
    """Leave out each kernel input in turn, for every dimensionless ridge (q,); targets (m, C).

    classes (m,) are what accuracy is judged by; where nobody knows them, the targets' own choice.
    """
    lams = np.array([absolute_ridge(kernels, ridge) for ridge in ridges])
    modes = kernels.modes(targets) if modes is None else modes
    left = np.stack([residuals(each, lams) for each in modes], axis=1)
    voted, chosen = (targets[..., None] - left).argmax(axis=1), targets.argmax(axis=1)
    fidelity, accuracy = (
        np.mean(voted == right[:, None], axis=0) for right in (chosen, chosen if classes is None else classes)
    )
    return LeaveOneOut(np.asarray(ridges), np.mean(left**2, axis=(0, 1)), fidelity, accuracy)
