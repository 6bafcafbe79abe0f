"""Local-global gradient distillation (Algorithm 1)."""

from dataclasses import dataclass

import numpy as np

from dntk_core.base.errors import DNTKError
from dntk_core.distill.mixing import Mixing, Origin
from dntk_core.kernels.decomposition import Decomposition, decompose
from dntk_core.kernels.orthogonal import basis_in_order
from dntk_core.kernels.spectrum import check_share
from dntk_core.kernels.structure import local_alignment

GAP_RULES = ("ratio", "union")


@dataclass(frozen=True)
class Candidates:
    """Steps 2-3 and 6 for one τ_v: what any τ_g then chooses from.

    local:       (L,)    local eigenvectors that represent the clusters, by cluster and rank
    gaps:        (r_g,)  global directions, the least covered first
    coverage:    (r_g,)  their c_j, ascending
    independent: (r_g,)  whether each survives orthogonalisation after the local rows and earlier gaps
    """

    local: np.ndarray
    gaps: np.ndarray
    coverage: np.ndarray
    independent: np.ndarray

    def chosen(self, tau_g: float) -> np.ndarray:
        """Return the global directions with c_j < τ_g that survive: (G,), nested in τ_g."""
        below = np.searchsorted(self.coverage, tau_g)
        return self.gaps[:below][self.independent[:below]]

    def removed(self, tau_g: float) -> int:
        """Count the gap rows that orthogonalisation drops at τ_g."""
        return int(np.sum(~self.independent[: np.searchsorted(self.coverage, tau_g)]))


def candidates(parts: Decomposition, tau_v: float, rule: str = "ratio") -> Candidates:
    """Rank the global directions of a decomposition by how well the local eigenspaces cover them.

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
    gaps = np.argsort(coverage, kind="stable")
    # The local rows are orthonormal unit vectors in local coordinates: orthogonalising against
    # them strikes out their coordinates, and the largest |R_ii| is their 1.
    leading = parts.leading(epsilon)
    residual = parts.overlap[~leading][:, gaps]
    independent = basis_in_order(residual, 1e-8).any(axis=0)
    return Candidates(np.flatnonzero(leading), gaps, coverage[gaps], independent)


def local_global(kernel: np.ndarray, labels: np.ndarray, tau_v: float, tau_g: float, rule: str = "ratio") -> Mixing:
    """Distil a mean kernel (m, m) with clusters labels (m,) by Algorithm 1.

    Rows: per cluster its leading local eigenvectors, then the global eigenvectors that no cluster covers.
    """
    return local_global_of(decompose(kernel, labels), tau_v, tau_g, rule)


def local_global_of(parts: Decomposition, tau_v: float, tau_g: float, rule: str = "ratio") -> Mixing:
    """Distil a decomposition at hand by Algorithm 1."""
    check_share("tau_g", tau_g)
    choice = candidates(parts, tau_v, rule)
    return mix(parts, choice.local, choice.chosen(tau_g), choice.removed(tau_g))


def mix(parts: Decomposition, local: np.ndarray, gaps: np.ndarray, removed: int) -> Mixing:
    """Stack lifted local and global eigenvectors into a mixing (steps 4 and 5)."""
    matrix = np.hstack([parts.lift(local), parts.whole.vectors[:, gaps]]).T
    origin = [Origin("local", int(parts.cluster[i]), int(parts.rank[i])) for i in local]
    origin += [Origin("gap", None, int(j)) for j in gaps]
    return Mixing(np.ascontiguousarray(matrix), tuple(origin), nested=False, removed=removed)
