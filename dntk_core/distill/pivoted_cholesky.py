"""Randomly pivoted Cholesky: inputs drawn by what earlier ones leave unexplained."""

import numpy as np

from dntk_core.distill.mixing import Mixing, selection
from dntk_core.kernels.kernel import Kernel, as_kernel


def pivoted_cholesky(kernel: np.ndarray | Kernel, size: int, generator: np.random.Generator) -> Mixing:
    """Select inputs one after the other with probability ∝ the diagonal of K - K_S K_SS⁻¹ K_Sᵀ. Nested."""
    kernel = as_kernel(kernel)
    m = kernel.m
    factor = np.zeros((m, size))
    residual, free = np.clip(kernel.diagonal(), 0.0, None), np.ones(m, dtype=bool)
    rounding = m * np.finfo(float).eps * residual.sum()
    chosen = []
    for q in range(size):
        # Once nothing is left to explain, every free input is as good.
        weight = np.where(free, residual, 0.0) if residual[free].max() > rounding else free.astype(float)
        pivot = int(generator.choice(m, p=weight / weight.sum()))
        chosen.append(pivot)
        free[pivot] = False
        column = kernel.rows(np.array([pivot]))[0] - factor[:, :q] @ factor[pivot, :q]
        if column[pivot] > rounding:
            factor[:, q] = column / np.sqrt(column[pivot])
            residual = np.clip(residual - factor[:, q] ** 2, 0.0, None)
    return selection(np.array(chosen), m)
