"""What is explained of an input: a weighted sum Σ_c w_c f^c(x) of its logits, and what targets mean."""

import numpy as np

from dntk_core.base.errors import DNTKError


def logit(c: int, C: int) -> np.ndarray:
    """Explain one logit: w (C,).

    >>> logit(1, 3)
    array([0., 1., 0.])
    """
    if not 0 <= c < C:
        raise DNTKError(f"the class must lie in 0..{C - 1}, got {c}")
    return np.eye(C)[c]


def difference(a: int, b: int, C: int) -> np.ndarray:
    """Explain by how much class a leads over class b: w (C,).

    >>> difference(0, 2, 3)
    array([ 1.,  0., -1.])
    """
    if a == b:
        raise DNTKError(f"two classes are compared, got class {a} twice")
    return logit(a, C) - logit(b, C)


def margins(logits: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Explain the margin of each label over the rest, log p/(1 - p), to first order: w (n, C).

    w_y = 1, and the others share -1 by their softmax among themselves.
    """
    n = np.arange(len(labels))
    others = np.array(logits, dtype=np.float64)
    others[n, labels] = -np.inf
    weights = -np.exp(others - others.max(axis=1, keepdims=True))
    weights /= -weights.sum(axis=1, keepdims=True)
    weights[n, labels] = 1.0
    return weights


def one_hot(labels: np.ndarray, C: int) -> np.ndarray:
    """Labels as targets, (m, C): what attribution to data is fitted to."""
    return np.eye(C)[labels]
