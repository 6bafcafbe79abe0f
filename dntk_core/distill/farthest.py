"""Farthest point selection in gradient space."""

import numpy as np

from dntk_core.distill.mixing import Mixing, selection


def farthest_point(kernel: np.ndarray, size: int) -> Mixing:
    """Select the input nearest the mean gradient, then always the one farthest from those chosen.

    ‖φ_i - φ_j‖² = K_ii + K_jj - 2K_ij. Nested.
    """
    norms = kernel.diagonal()
    chosen = [int(np.argmin(norms - 2.0 * kernel.mean(axis=1)))]
    distance = np.full(len(kernel), np.inf)
    for _ in range(1, size):
        last = chosen[-1]
        distance = np.minimum(distance, norms + norms[last] - 2.0 * kernel[last])
        # Rounding must not let a copy of a chosen input look nearer than the chosen one itself.
        distance[chosen] = -np.inf
        chosen.append(int(np.argmax(distance)))
    return selection(np.array(chosen), len(kernel))
