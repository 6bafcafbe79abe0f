"""Wasserstein barycenters of one class's features: k-means where weights are free, transport where they are equal."""

from dataclasses import dataclass

import numpy as np

from dntk_core.kernels.kmeans import fill_empty, kmeans, plus_plus, squared_distances

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
    # The uniform barycenter is one more start: from there Lloyd's steps end no higher, as they must.
    equal = uniform_barycenter(features, size, rng).points
    starts = (kmeans(features, size, rng, restarts=RESTARTS), _nearest(features, equal))
    return min((_lloyd(features, labels, size) for labels in starts), key=lambda found: found.cost)


def uniform_barycenter(features: np.ndarray, size: int, rng: np.random.Generator) -> Barycenter:
    """Minimise W2² over points of equal weight, by alternating exact transport and averaging."""
    import ot

    mass, weights = np.full(len(features), 1 / len(features)), np.full(size, 1 / size)
    start = plus_plus(features, size, rng, restarts=1)[0]
    points = np.asarray(ot.lp.free_support_barycenter([features], [mass], start, b=weights))
    cost = np.asarray(ot.emd2(mass, weights, ot.dist(features, points)))
    return Barycenter(points, weights, float(cost))


BARYCENTERS = {"free": free_barycenter, "uniform": uniform_barycenter}


def nearest_images(features: np.ndarray, points: np.ndarray) -> np.ndarray:
    """For each point (j, d) the nearest image not yet taken: indices (j,), all different."""
    distances = squared_distances(features, points)
    chosen = []
    for column in distances.T:
        column[chosen] = np.inf
        chosen.append(int(np.argmin(column)))
    return np.array(chosen)


def _lloyd(features: np.ndarray, labels: np.ndarray, size: int) -> Barycenter:
    """Alternate means and nearest means to the very end: only there is every image's own mean its nearest."""
    cost, previous = _within(features, labels, size), np.inf
    while cost < previous:
        labels = _nearest(features, _means(features, labels, size))
        cost, previous = _within(features, labels, size), cost
    return Barycenter(_means(features, labels, size), np.bincount(labels, minlength=size) / len(features), cost)


def _nearest(features: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Label each image by its nearest point, no point left without one: (n_c,)."""
    distances = squared_distances(features, points)
    return fill_empty(np.argmin(distances, axis=1), distances)


def _means(features: np.ndarray, labels: np.ndarray, size: int) -> np.ndarray:
    member = (labels == np.arange(size)[:, None]).astype(float)
    return member @ features / member.sum(axis=1, keepdims=True)


def _within(features: np.ndarray, labels: np.ndarray, size: int) -> float:
    """Mean squared distance of the images to their cluster's mean."""
    return float(np.mean(np.sum((features - _means(features, labels, size)[labels]) ** 2, axis=1)))
