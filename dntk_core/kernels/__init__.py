"""Kernels of m inputs and what is read off them: `Kernel` is one, `ClassKernels` those of all classes.

Either is an array, or the features that it is the product of. `spectrum`, `clusters`, `decomposition`, `structure`
(properties A and B) and `subspace` analyse them; `ridge` gives λ its unit.
"""

from dntk_core.kernels.class_kernels import ClassKernels, Kernels
from dntk_core.kernels.clusters import spectral_clusters
from dntk_core.kernels.decomposition import Decomposition, decompose
from dntk_core.kernels.feature_kernels import FeatureKernels, kernels_by_size
from dntk_core.kernels.kernel import DenseKernel, Kernel
from dntk_core.kernels.ridge import absolute_ridge
from dntk_core.kernels.spectrum import (
    Spectrum,
    data_redundancy,
    effective_dimension,
    parameter_redundancy,
    truncation_rank,
)
from dntk_core.kernels.structure import containment, coverage
from dntk_core.kernels.subspace import subspace_coverage

__all__ = [
    "ClassKernels",
    "Decomposition",
    "DenseKernel",
    "FeatureKernels",
    "Kernel",
    "Kernels",
    "Spectrum",
    "absolute_ridge",
    "containment",
    "coverage",
    "data_redundancy",
    "decompose",
    "effective_dimension",
    "kernels_by_size",
    "parameter_redundancy",
    "spectral_clusters",
    "subspace_coverage",
    "truncation_rank",
]
