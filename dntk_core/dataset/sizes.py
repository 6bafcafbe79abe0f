"""Scores of a distilled run's kernels over the number of images, taken evenly from all classes."""

import numpy as np

from dntk_core.distill.mixing import selection
from dntk_core.readout.curves import Curve, size_curve
from dntk_core.readout.problem import Problem


def even_order(labels: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Order images so that every prefix holds equally many of each class, the heaviest first: indices (m,).

    >>> even_order(np.array([0, 0, 1, 1]), np.array([0.2, 0.8, 0.5, 0.5]))
    array([1, 2, 0, 3])
    """
    turn = np.empty(len(labels), dtype=int)
    for c in np.unique(labels):
        members = np.flatnonzero(labels == c)
        turn[members[np.argsort(-weights[members], kind="stable")]] = np.arange(len(members))
    return np.lexsort((labels, turn))


def evenly_sized(problem: Problem, labels: np.ndarray, weights: np.ndarray, ridge: float) -> Curve:
    """Score kernels on 1, 2, … images of each class; labels and weights (m,) are those of the kernel inputs."""
    order, classes = even_order(labels, weights), len(np.unique(labels))
    return size_curve(problem, selection(order, len(order)), range(classes, len(order) + 1, classes), ridge)
