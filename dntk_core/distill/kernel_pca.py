"""Kernel PCA: the leading eigenvectors of the mean kernel."""

import numpy as np

from dntk_core.base.errors import DNTKError
from dntk_core.distill.mixing import Mixing, Origin
from dntk_core.kernels.spectrum import Spectrum


def kernel_pca(spectrum: Spectrum, size: int) -> Mixing:
    """Mix by the `size` leading eigenvectors, the best rows for captured energy (Ky Fan). Nested."""
    if size > spectrum.vectors.shape[1]:
        raise DNTKError(f"{spectrum.vectors.shape[1]:,} eigenvectors of the mean kernel are known; ask for no more")
    matrix = np.ascontiguousarray(spectrum.vectors[:, :size].T)
    return Mixing(matrix, tuple(Origin("eigenvector", None, j) for j in range(size)), nested=True)
