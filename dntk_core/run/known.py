"""What a live object may find computed ahead."""

from typing import Protocol

from dntk_core.kernels.clusters import Embedding
from dntk_core.kernels.decomposition import Decomposition
from dntk_core.kernels.spectrum import Spectrum


class Known(Protocol):
    """What was computed of K̄ ahead, None where nothing was; clusterings are those of seed 0."""

    def spectrum(self) -> Spectrum | None:
        """Leading eigenpairs of K̄."""
        ...

    def embedding(self) -> Embedding | None:
        """The inputs embedded for clustering."""
        ...

    def decomposition(self, H: int) -> Decomposition | None:
        """K̄ within H clusters."""
        ...
