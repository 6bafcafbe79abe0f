"""Kernel herding: inputs whose running mean follows the mean gradient."""

import numpy as np

from dntk_core.distill.mixing import Mixing, selection
from dntk_core.kernels.kernel import Kernel, as_kernel, row_means


def herding(kernel: np.ndarray | Kernel, size: int) -> Mixing:
    """Select greedily, without replacement, i = argmax μ_i - (1/(q+1)) Σ_{j chosen} K_ij with μ = K1/m. Nested."""
    kernel = as_kernel(kernel)
    mean, pull = row_means(kernel), np.zeros(kernel.m)
    chosen: list[int] = []
    for q in range(size):
        gain = mean - pull / (q + 1)
        gain[chosen] = -np.inf
        chosen.append(int(np.argmax(gain)))
        pull += kernel.rows(np.array(chosen[-1:]))[0]
    return selection(np.array(chosen), kernel.m)
