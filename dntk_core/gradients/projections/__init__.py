"""Seeded random projections R^P → R^k of gradients, unbiased: one file for each, one row of PROJECTIONS.

A projection of whole gradients is a `LinearMap` wrapped by `of_whole_gradients`; `structured` never forms a whole one.
"""

from dntk_core.gradients.projections.hadamard import Hadamard
from dntk_core.gradients.projections.identity import Identity
from dntk_core.gradients.projections.orthonormal import Orthonormal
from dntk_core.gradients.projections.projection import Projection, Projector
from dntk_core.gradients.projections.sparse import Sparse
from dntk_core.gradients.projections.structured import Structured, structured_kept
from dntk_core.gradients.projections.whole import LinearMap, of_whole_gradients

__all__ = ["PROJECTIONS", "LinearMap", "Projection", "Projector", "of_whole_gradients"]

PROJECTIONS: dict[str, Projection] = {
    "identity": of_whole_gradients(Identity, dimension=lambda k, P: P),
    "orthonormal": of_whole_gradients(Orthonormal),
    "hadamard": of_whole_gradients(Hadamard),
    "sparse": of_whole_gradients(Sparse),
    "structured": Projection(Structured, structured_kept, whole_gradients=False),
}
