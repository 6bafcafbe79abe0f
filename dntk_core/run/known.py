"""What a live object may find computed ahead."""

from typing import Protocol

import numpy as np

from dntk_core.kernels.clusters import Embedding
from dntk_core.kernels.decomposition import Decomposition
from dntk_core.kernels.rotated import Rotated
from dntk_core.kernels.spectrum import Spectrum


class Known(Protocol):
    """What was computed of K̄ ahead, None where nothing was; clusterings are those of seed 0."""

    def spectrum(self) -> Spectrum | None:
        """Leading eigenpairs of K̄."""
        ...

    def embedding(self) -> Embedding | None:
        """The inputs embedded for clustering."""
        ...

    def clusters(self) -> tuple[int, ...]:
        """Every H of which clusters were analysed, ascending."""
        ...

    def decomposition(self, H: int, whole: Spectrum) -> Decomposition | None:
        """K̄, whose leading eigenpairs are given, within H clusters."""
        ...

    def rows(self, share: float) -> np.ndarray | None:
        """The features met with the global eigenvectors that hold a share of the variance, (C, g, k)."""
        ...

    def rotated(self, H: int, parts: Decomposition, share: float) -> Rotated | None:
        """The features met with the local eigenvectors of a decomposition that hold a share of the variance."""
        ...
