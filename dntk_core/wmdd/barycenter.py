"""Wasserstein barycenters of one class's features: k-means where weights are free, transport where they are equal."""

from dataclasses import dataclass

import numpy as np

from dntk_core.kmeans import fill_empty, kmeans, plus_plus, squared_distances

RESTARTS = 10


@dataclass(frozen=True)
class Barycenter:
    """A measure Σ_j w_j δ(b_j) near the class's empirical measure.

    points: (j, d)  weights: (j,), sum 1  cost: W2² to the class
    """

    points: np.ndarray
    weights: np.ndarray
    cost: float


def free_barycenter(features: np.ndarray, size: int, rng: np.random.Generator) -> Barycenter:
    """Minimise W2² over points and weights: features (n_c, d) to `size` points.

    The class is a single measure, so with free weights every image goes to its nearest point: the minimiser is
    k-means, its weights the cluster fractions, its cost (1/n_c) Σ_i min_j ‖x_i - b_j‖².
    """
    labels = kmeans(features, size, rng, restarts=RESTARTS)
    cost, previous = _within(features, labels, size), np.inf
    # Lloyd steps to the very end: only at a fixed point does every image lie with its nearest centre.
    while cost < previous:
        distances = squared_distances(features, _means(features, labels, size))
        labels = fill_empty(np.argmin(distances, axis=1), distances)
        cost, previous = _within(features, labels, size), cost
    weights = np.bincount(labels, minlength=size) / len(features)
    return Barycenter(_means(features, labels, size), weights, cost)


def uniform_barycenter(features: np.ndarray, size: int, rng: np.random.Generator) -> Barycenter:
    """Minimise W2² over points of equal weight, by alternating exact transport and averaging."""
    import ot

    mass, weights = np.full(len(features), 1 / len(features)), np.full(size, 1 / size)
    start = plus_plus(features, size, rng, restarts=1)[0]
    points = ot.lp.free_support_barycenter([features], [mass], start, b=weights)
    return Barycenter(points, weights, float(ot.emd2(mass, weights, ot.dist(features, points))))


BARYCENTERS = {"free": free_barycenter, "uniform": uniform_barycenter}


def nearest_images(features: np.ndarray, points: np.ndarray) -> np.ndarray:
    """For each point (j, d) the nearest image not yet taken: indices (j,), all different."""
    distances = squared_distances(features, points)
    chosen = []
    for column in distances.T:
        column[chosen] = np.inf
        chosen.append(int(np.argmin(column)))
    return np.array(chosen)


def _means(features: np.ndarray, labels: np.ndarray, size: int) -> np.ndarray:
    member = (labels == np.arange(size)[:, None]).astype(float)
    return member @ features / member.sum(axis=1, keepdims=True)


def _within(features: np.ndarray, labels: np.ndarray, size: int) -> float:
    """Mean squared distance of the images to their cluster's mean."""
    return float(np.mean(np.sum((features - _means(features, labels, size)[labels]) ** 2, axis=1)))
