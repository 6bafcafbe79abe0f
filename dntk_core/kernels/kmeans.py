"""Lloyd's k-means with k-means++ starts; deterministic by generator, and never an empty cluster."""

import numpy as np

from dntk_core.base.errors import DNTKError
from dntk_core.kernels.together import Alone, Together, share


def squared_distances(points: np.ndarray, centres: np.ndarray) -> np.ndarray:
    """Return ‖x_i - z_h‖² for points (m, d) and centres (..., H, d): (..., m, H), at least 0."""
    inner = points @ np.swapaxes(centres, -1, -2)
    squared = np.sum(points**2, axis=1)[:, None] + np.sum(centres**2, axis=-1)[..., None, :] - 2.0 * inner
    return np.clip(squared, 0.0, None)


def plus_plus(points: np.ndarray, H: int, generator: np.random.Generator, restarts: int) -> np.ndarray:
    """Draw k-means++ starting centres, each next one with probability ∝ squared distance: (restarts, H, d)."""
    m = len(points)
    chosen = np.empty((restarts, H), dtype=int)
    chosen[:, 0] = generator.integers(m, size=restarts)
    nearest = np.full((restarts, m), np.inf)
    for h in range(1, H):
        nearest = np.minimum(nearest, squared_distances(points, points[chosen[:, h - 1], None])[..., 0])
        # Where every point is already a centre all weights are 0: any point will do.
        weight = np.cumsum(nearest + np.finfo(float).tiny, axis=1)
        draw = generator.random((restarts, 1)) * weight[:, -1:]
        chosen[:, h] = np.minimum(np.sum(weight <= draw, axis=1), m - 1)
    return points[chosen]


def fill_empty(labels: np.ndarray, distances: np.ndarray) -> np.ndarray:
    """Give each empty cluster the point farthest from its centre among clusters that can spare one."""
    labels = labels.copy()
    H = distances.shape[1]
    for h in np.setdiff1d(np.arange(H), labels):
        spare = np.bincount(labels, minlength=H)[labels] > 1
        own = distances[np.arange(len(labels)), labels]
        labels[np.argmax(np.where(spare, own, -1.0))] = h
    return labels


def in_order_of_appearance(labels: np.ndarray) -> np.ndarray:
    """Rename clusters so that the first point is in cluster 0, the next new one in cluster 1, ….

    >>> in_order_of_appearance(np.array([7, 2, 7, 5]))
    array([0, 1, 0, 2])
    """
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[inverse]


def kmeans(
    points: np.ndarray,
    H: int,
    generator: np.random.Generator,
    restarts: int = 8,
    iterations: int = 50,
    together: Together | None = None,
) -> np.ndarray:
    """Partition points (m, d) into H non-empty clusters of small within-cluster variance: labels (m,).

    All restarts advance together; the one with the least Σ_i ‖x_i - z_{h(i)}‖² is kept. Several processes assign each
    their share of the points, and add up Σ_i x_i and counts of every cluster.
    """
    m = len(points)
    if not 1 <= H <= m:
        raise DNTKError(f"the number of clusters H must lie in 1..{m} (the number of inputs), got {H}")
    together = together or Alone()
    centres = plus_plus(points, H, generator, restarts)
    own = points[share(together, m)]
    labels = np.full((restarts, len(own)), -1)
    for _ in range(iterations):
        distances = squared_distances(own, centres)
        previous, labels = labels, np.argmin(distances, axis=-1)
        if not together.sum(np.array([np.sum(previous != labels)]))[0]:
            break
        member = (labels[:, None, :] == np.arange(H)[:, None]).astype(float)
        total, count = together.sum(member @ own), together.sum(member.sum(axis=-1, keepdims=True))
        centres = np.where(count > 0, total / np.maximum(count, 1.0), centres)
    best = np.argmin(together.sum(np.min(distances, axis=-1).sum(axis=-1)))
    labels, distances = together.gather(labels[best]), together.gather(distances[best])
    return in_order_of_appearance(fill_empty(labels, distances))
