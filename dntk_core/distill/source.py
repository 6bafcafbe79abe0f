"""What methods distil, and what several of them need of it."""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dntk_core.kernels.class_kernels import ClassKernels
from dntk_core.kernels.clusters import Embedding, cluster_embedding, embed
from dntk_core.kernels.decomposition import Decomposition, decompose
from dntk_core.kernels.kernel import Kernel
from dntk_core.kernels.spectrum import Spectrum, spectrum

# One cluster would be kernel PCA under another name.
ANY_H = (2, 3, 5, 10, 20, 50)
PAPER_H = (5, 10, 15, 20)


def own_memory() -> Callable[[Hashable, Callable[[], Any]], Any]:
    """A memory that lives as long as whoever holds it."""
    known: dict[Hashable, Any] = {}

    def remember(key: Hashable, compute: Callable[[], Any]) -> Any:
        if key not in known:
            known[key] = compute()
        return known[key]

    return remember


@dataclass(frozen=True)
class Source:
    """What to distil; what follows from it is computed when first asked for.

    kernels:  ClassKernels
    targets:  (m, C)
    classes:  (m,), by which inputs are drawn evenly; by the targets if not given
    remember: (key, compute) → the value of a key; whoever has a memory of their own lends it
    """

    kernels: ClassKernels
    targets: np.ndarray
    classes: np.ndarray | None = None
    remember: Callable[[Hashable, Callable[[], Any]], Any] = field(default_factory=own_memory)

    @property
    def m(self) -> int:
        return len(self.targets)

    @property
    def by_class(self) -> np.ndarray:
        """The class of each input, (m,)."""
        return self.targets.argmax(axis=1) if self.classes is None else self.classes

    @property
    def kernel(self) -> Kernel:
        """K̄."""
        return self.kernels.kernel()

    @property
    def spectrum(self) -> Spectrum:
        """The spectrum of K̄."""
        return self.remember(("spectrum", None), lambda: spectrum(self.kernel))

    @property
    def embedding(self) -> Embedding:
        """The inputs embedded for clustering by K̄."""
        return self.remember(("embedding", None), lambda: embed(self.kernel))

    def decompositions(self, clusters: Sequence[int]) -> tuple[Decomposition, ...]:
        """K̄ decomposed for each number of clusters, as far as there are inputs; for one cluster if there are fewer."""
        return tuple(self._decomposition(H) for H in ([H for H in clusters if H <= self.m] or [1]))

    def _decomposition(self, H: int) -> Decomposition:
        return self.remember(
            ("decomposition", H, None),
            lambda: decompose(self.kernel, cluster_embedding(self.embedding, H, 0), self.spectrum),
        )
