"""Kernel herding: inputs whose running mean follows the mean gradient."""

import numpy as np

from dntk_core.distill.mixing import Mixing, selection


def herding(kernel: np.ndarray, size: int) -> Mixing:
    """Select greedily, without replacement, i = argmax μ_i - (1/(q+1)) Σ_{j chosen} K_ij with μ = K1/m. Nested."""
    mean, pull = kernel.mean(axis=1), np.zeros(len(kernel))
    chosen: list[int] = []
    for q in range(size):
        gain = mean - pull / (q + 1)
        gain[chosen] = -np.inf
        chosen.append(int(np.argmax(gain)))
        pull += kernel[chosen[-1]]
    return selection(np.array(chosen), len(kernel))
