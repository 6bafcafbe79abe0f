"""Farthest point selection in gradient space."""

import numpy as np

from dntk_core.distill.mixing import Mixing, selection
from dntk_core.kernels.kernel import Kernel, as_kernel, row_means


def farthest_point(kernel: np.ndarray | Kernel, size: int) -> Mixing:
    """Select the input nearest the mean gradient, then always the one farthest from those chosen.

    ‖φ_i - φ_j‖² = K_ii + K_jj - 2K_ij. Nested.
    """
    kernel = as_kernel(kernel)
    norms = kernel.diagonal()
    chosen = [int(np.argmin(norms - 2.0 * row_means(kernel)))]
    distance = np.full(kernel.m, np.inf)
    for _ in range(1, size):
        last = chosen[-1]
        distance = np.minimum(distance, norms + norms[last] - 2.0 * kernel.rows(np.array([last]))[0])
        # Rounding must not let a copy of a chosen input look nearer than the chosen one itself.
        distance[chosen] = -np.inf
        chosen.append(int(np.argmax(distance)))
    return selection(np.array(chosen), kernel.m)
