"""Kernel PCA: the leading eigenvectors of the mean kernel."""

import numpy as np

from dntk_core.distill.mixing import Mixing, Origin
from dntk_core.kernels.spectrum import Spectrum


def kernel_pca(spectrum: Spectrum, size: int) -> Mixing:
    """Mix by the `size` leading eigenvectors, or all that are known: the best rows for captured energy. Nested."""
    matrix = np.ascontiguousarray(spectrum.vectors[:, :size].T)
    return Mixing(matrix, tuple(Origin("eigenvector", None, j) for j in range(len(matrix))), nested=True)
