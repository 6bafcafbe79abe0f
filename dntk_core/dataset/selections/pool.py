"""What a selection chooses from, and what it returns."""

from dataclasses import dataclass

import numpy as np

from dntk_core.distill.mixing import Mixing


@dataclass(frozen=True)
class Choice:
    """Images of one class: index (j,) into it, weights (j,) that sum to 1."""

    index: np.ndarray
    weights: np.ndarray


@dataclass(frozen=True)
class Pool:
    """One class's images as points, from which `size` are chosen.

    points: (n_c, d) penultimate features, or (n_c, C·k) stacked projected gradients for a method that `uses_gradients`
    """

    points: np.ndarray
    size: int
    rng: np.random.Generator

    @property
    def kernel(self) -> np.ndarray:
        """Inner products of the points, (n_c, n_c)."""
        return self.points @ self.points.T


def equal(mixing: Mixing) -> Choice:
    """Read a selection's one-hot rows; all images weigh the same."""
    return Choice(mixing.matrix.argmax(axis=1), np.full(mixing.size, 1 / mixing.size))
