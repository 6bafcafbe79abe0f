"""The one form every gradient distillation takes: a matrix A that mixes m gradients into s."""

from collections import Counter
from dataclasses import dataclass

import numpy as np

from dntk_core.base.errors import DNTKError
from dntk_core.base.text import html_table


@dataclass(frozen=True)
class Origin:
    """Where one row came from.

    kind:    "selected" (an input), "centroid", "local" (a cluster's eigenvector), "gap" or
             "eigenvector" (a global one), "optimal"
    cluster: the cluster of a "local" or "centroid" row, else None
    index:   the input selected, or the place (0 = first) among the rows of that kind and cluster
    """

    kind: str
    cluster: int | None
    index: int


@dataclass(frozen=True)
class Setting:
    """The settings of Algorithm 1 that made a mixing, given or chosen."""

    H: int
    tau_v: float
    tau_g: float
    rule: str
    energy: str = "gradients"

    def __str__(self) -> str:
        other = "" if self.energy == "gradients" else f", energy of the {self.energy}"
        return f"H = {self.H}, τ_v = {self.tau_v:.3g}, τ_g = {self.tau_g:.3g} ({self.rule}{other})"


@dataclass(frozen=True, eq=False)
class Mixing:
    """Distilled gradients Φ̂ = AΦ and targets Ŷ = AY.

    matrix:  (s, m)  A
    origin:  s entries, one per row
    nested:  whether the first s′ rows are what the method gives for size s′
    removed: rows that the method dropped as linearly dependent
    setting: of Algorithm 1, where it made the rows
    """

    matrix: np.ndarray
    origin: tuple[Origin, ...]
    nested: bool
    removed: int = 0
    setting: Setting | None = None

    def __post_init__(self):
        if self.matrix.ndim != 2 or len(self.origin) != len(self.matrix):
            raise DNTKError(f"{len(self.origin)} origins do not fit a mixing matrix of shape {self.matrix.shape}")

    @property
    def size(self) -> int:
        """s, the number of distilled gradients."""
        return len(self.origin)

    @property
    def counts(self) -> Counter:
        """How many rows came from each kind of origin."""
        return Counter(row.kind for row in self.origin)

    @property
    def description(self) -> str:
        """How Algorithm 1 made the rows: "H = 5, τ_v = 0.3, τ_g = 0.9 (ratio): 5 local + 0 gap"; else empty."""
        counts = self.counts
        return f"{self.setting}: {counts['local']} local + {counts['gap']} gap" if self.setting else ""

    @property
    def blocks(self) -> tuple[tuple[np.ndarray, np.ndarray], ...]:
        """Group the rows by cluster, with the inputs each group mixes: pairs of indices into rows and inputs."""
        cluster = np.array([-1 if row.cluster is None else row.cluster for row in self.origin])
        rows = [np.flatnonzero(cluster == h) for h in np.unique(cluster)]
        return tuple((group, np.flatnonzero(self.matrix[group].any(axis=0))) for group in rows)

    def _repr_html_(self) -> str:
        size, m = self.matrix.shape
        made = {"Rows": ", ".join(f"{count} {kind}" for kind, count in self.counts.items())}
        made |= {"Setting": self.setting} if self.setting else {}
        return html_table(["Distilled gradients", *made], [[f"{size:,} of {m:,}", *made.values()]])

    def head(self, size: int) -> "Mixing":
        """Keep the first `size` rows, or all where there are fewer."""
        return Mixing(self.matrix[:size], self.origin[:size], self.nested, self.removed, self.setting)


def selection(indices: np.ndarray, m: int, nested: bool = True, weights: np.ndarray | float = 1.0) -> Mixing:
    """Mix by selecting inputs: row i is weights[i] at indices[i], 0 elsewhere.

    >>> selection(np.array([2, 0]), 3).matrix
    array([[0., 0., 1.],
           [1., 0., 0.]])
    """
    matrix = np.zeros((len(indices), m))
    matrix[np.arange(len(indices)), indices] = weights
    return Mixing(matrix, tuple(Origin("selected", None, int(i)) for i in indices), nested)
