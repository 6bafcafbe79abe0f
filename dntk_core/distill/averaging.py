"""k-means in gradient space: cluster means as rows, or the inputs nearest to them."""

import numpy as np

from dntk_core.distill.mixing import Mixing, Origin, selection
from dntk_core.kernels.kmeans import kmeans
from dntk_core.kernels.spectrum import Spectrum


def coordinates(spectrum: Spectrum) -> np.ndarray:
    """Return U√Σ (m, m), whose rows lie at the same distances from each other as the gradients."""
    return spectrum.vectors * np.sqrt(spectrum.values)


def centroids(spectrum: Spectrum, size: int, generator: np.random.Generator) -> Mixing:
    """Average the gradients of each of `size` k-means clusters: row h is 1/|I_h| on I_h. Not nested."""
    labels = kmeans(coordinates(spectrum), size, generator)
    member = (labels == np.arange(size)[:, None]).astype(float)
    matrix = member / member.sum(axis=1, keepdims=True)
    return Mixing(matrix, tuple(Origin("centroid", h, 0) for h in range(size)), nested=False)


def medoids(spectrum: Spectrum, size: int, generator: np.random.Generator) -> Mixing:
    """Select in each of `size` k-means clusters the input nearest to its mean. Not nested."""
    points = coordinates(spectrum)
    labels = kmeans(points, size, generator)
    nearest = []
    for h in range(size):
        members = np.flatnonzero(labels == h)
        offset = points[members] - points[members].mean(axis=0)
        nearest.append(members[np.argmin(np.sum(offset**2, axis=1))])
    return selection(np.array(nearest), len(points), nested=False)
