"""Ridges: given without units, applied in the kernel's."""

import numpy as np

from dntk_core.errors import DNTKError
from dntk_core.kernels import Kernels


def absolute_ridge(kernels: Kernels, ridge: float) -> float:
    """Turn a dimensionless ridge into λ = ridge · tr(K̄)/m, in the kernel's own units.

    λ is kept above the kernels' rounding error, m ε max_c tr K^c: ridge 0 then gives the minimum-norm fit also
    where a kernel is singular. A zero kernel, on which every λ gives the same prediction 0, gets λ = 1.
    """
    if not (np.isfinite(ridge) and ridge >= 0):
        raise DNTKError(f"ridge must be a finite number >= 0, got {ridge}")
    traces = np.trace(kernels.train, axis1=1, axis2=2)
    rounding = kernels.train.shape[1] * np.finfo(float).eps * float(traces.max())
    return max(ridge * kernels.scale, rounding) or 1.0
