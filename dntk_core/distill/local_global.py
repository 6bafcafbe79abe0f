"""Local-global gradient distillation (Algorithm 1)."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dntk_core.base.errors import DNTKError
from dntk_core.distill.mixing import Mixing, Origin, Setting
from dntk_core.kernels.decomposition import Decomposition, decompose
from dntk_core.kernels.kernel import Kernel
from dntk_core.kernels.orthogonal import basis_in_order
from dntk_core.kernels.spectrum import check_share
from dntk_core.kernels.structure import local_alignment

GAP_RULES = ("ratio", "union")
# A row nearer than this to the span of those before it is dropped; rows are orthonormal, so the largest |R_ii| is 1.
DEPENDENT = 1e-8


@dataclass(frozen=True)
class Rows:
    """Steps 2-3 and 6 for one τ_v: what any τ_g then chooses from.

    local:    (L,)      local eigenvectors that represent the clusters, by cluster and rank
    coverage: (r_g,)    c_j of every global direction
    residual: (n, r_g)  the global directions less their part in the local rows, in local coordinates
    """

    local: np.ndarray
    coverage: np.ndarray
    residual: np.ndarray

    def gaps(self, tau_g: float) -> np.ndarray:
        """Return the global directions with c_j < τ_g, in order, that add to the rows before them: (G,)."""
        below = np.flatnonzero(self.coverage < tau_g)
        if self.independent:
            return below
        return below[basis_in_order(self.residual[:, below], DEPENDENT).any(axis=0)]

    @cached_property
    def independent(self) -> bool:
        """Whether all directions that are not wholly covered are independent: then so is every choice of them."""
        left = self.residual[:, self.coverage < 1.0]
        if left.shape[1] == 0 or left.shape[0] < left.shape[1]:
            return left.shape[1] == 0
        return _clearly(left) or np.abs(np.diag(np.linalg.qr(left, mode="r"))).min() > DEPENDENT

    def removed(self, tau_g: float) -> int:
        """Count the gap rows that orthogonalisation drops at τ_g."""
        return int(np.sum(self.coverage < tau_g)) - len(self.gaps(tau_g))


def _clearly(columns: np.ndarray) -> bool:
    """Whether columns are so far from dependent that squares of distances can tell, which is much less work."""
    try:
        return bool(np.diag(np.linalg.cholesky(columns.T @ columns)).min() > 1e-4)
    except np.linalg.LinAlgError:
        return False


def rows_of(parts: Decomposition, tau_v: float, rule: str = "ratio") -> Rows:
    """Take the local rows of a decomposition, and measure how well they cover the global directions.

    rule "ratio": c_j = max_h ‖P_h u_j|h‖² / ‖u_j|h‖², the paper's
    rule "union": c_j = ‖Π_loc u_j‖², property (B) itself
    """
    check_share("tau_v", tau_v)
    if rule not in GAP_RULES:
        raise DNTKError(f"the gap rule must be one of {', '.join(GAP_RULES)}, got {rule!r}")
    epsilon = 1.0 - tau_v
    r_g = parts.global_rank(epsilon)
    energy, alignment = local_alignment(parts, epsilon, r_g)
    coverage = alignment.max(axis=0) if rule == "ratio" else energy.sum(axis=0)
    # A direction covered but for rounding is covered.
    coverage = np.where(coverage > 1.0 - 1e-12, 1.0, coverage)
    # The local rows are unit vectors in local coordinates: what is left beside them are the other coordinates.
    leading = parts.leading(epsilon)
    return Rows(np.flatnonzero(leading), coverage, parts.overlap[:, :r_g][~leading])


def local_global(
    kernel: np.ndarray | Kernel,
    labels: np.ndarray,
    tau_v: float,
    tau_g: float,
    rule: str = "ratio",
    energy: str = "gradients",
) -> Mixing:
    """Distil a mean kernel (m, m) with clusters labels (m,) by Algorithm 1.

    Rows: per cluster its leading local eigenvectors, then the global eigenvectors that no cluster covers.
    energy: one of ENERGIES, of which ranks keep a share τ_v
    """
    return local_global_of(decompose(kernel, labels).by(energy), tau_v, tau_g, rule)


def local_global_of(parts: Decomposition, tau_v: float, tau_g: float, rule: str = "ratio") -> Mixing:
    """Distil a decomposition at hand by Algorithm 1."""
    check_share("tau_g", tau_g)
    rows = rows_of(parts, tau_v, rule)
    setting = Setting(parts.H, tau_v, tau_g, rule, parts.spectrum.energy)
    return Lifted(parts, rows.local, rows.gaps(tau_g), rows.removed(tau_g), setting)


class Lifted(Mixing):
    """Lifted local and global eigenvectors, stacked (steps 4 and 5); the matrix is made when it is first asked for.

    parts: Decomposition  whose eigenvectors they are
    local: (L,)           local ones, by their place in it
    gaps:  (G,)           global ones
    """

    def __init__(
        self,
        parts: Decomposition,
        local: np.ndarray,
        gaps: np.ndarray,
        removed: int = 0,
        setting: Setting | None = None,
    ):
        origin = [Origin("local", int(parts.cluster[i]), int(parts.rank[i])) for i in local]
        origin += [Origin("gap", None, int(j)) for j in gaps]
        given = {"origin": tuple(origin), "nested": False, "removed": removed, "setting": setting}
        self.__dict__.update(given, parts=parts, local=local, gaps=gaps)

    parts: Decomposition
    local: np.ndarray
    gaps: np.ndarray

    @property
    def nbytes(self) -> int:
        """What it holds beside the decomposition, once the matrix is made."""
        return 8 * self.size * len(self.parts.labels)

    @cached_property
    def matrix(self) -> np.ndarray:  # pyright: ignore[reportIncompatibleVariableOverride]
        """A, (s, m)."""
        return np.ascontiguousarray(np.hstack([self.parts.lift(self.local), self._whole]).T)

    def averaged(self, targets: np.ndarray) -> np.ndarray:
        """A Y for targets (m, C): (s, C); cluster by cluster, without A."""
        found = np.empty((self.size, targets.shape[1]))
        for rows, members, vectors in self.parts.within(self.local):
            found[rows] = vectors.T @ targets[members]
        found[len(self.local) :] = self._whole.T @ targets
        return found

    @property
    def _whole(self) -> np.ndarray:
        return self.parts.spectrum.vectors[:, self.gaps]
