"""Kernel PCA: the leading eigenvectors of the mean kernel."""

import numpy as np

from dntk_core.distill.mixing import Mixing, Origin
from dntk_core.kernels.spectrum import Spectrum


def kernel_pca(whole: Spectrum, size: int) -> Mixing:
    """Mix by the `size` leading eigenvectors, the best rows for captured energy (Ky Fan). Nested."""
    matrix = np.ascontiguousarray(whole.vectors[:, :size].T)
    return Mixing(matrix, tuple(Origin("eigenvector", None, j) for j in range(size)), nested=True)
