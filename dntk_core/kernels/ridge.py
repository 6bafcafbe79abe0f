"""Ridges: given without units, applied in the kernel's."""

import numpy as np

from dntk_core.base.errors import DNTKError
from dntk_core.kernels.class_kernels import ClassKernels

# Targets outside a singular kernel's range are divided by λ and then cancelled by K*, up to rounding: below this
# multiple of it more than about 1e-4 of them would remain.
FLOOR = 1e4 * np.finfo(float).eps


def absolute_ridge(kernels: ClassKernels, ridge: float) -> float:
    """Turn a dimensionless ridge into λ = ridge · tr(K̄)/m, in the kernel's own units.

    λ is kept above FLOOR · max_c tr K^c (ridge 1e-9 at m = 500), so that ridge 0 gives the minimum-norm fit also
    where a kernel is singular. A zero kernel, on which every λ gives the same prediction 0, gets λ = 1.
    """
    if not (np.isfinite(ridge) and ridge >= 0):
        raise DNTKError(f"ridge must be a finite number >= 0, got {ridge}")
    return max(ridge * kernels.scale, FLOOR * float(kernels.traces.max())) or 1.0
