"""Properties (A) and (B): local variance lies in the global eigenspace, but does not span it."""

from dataclasses import dataclass

import numpy as np

from dntk_core.kernels.decomposition import Decomposition, decompose
from dntk_core.kernels.kernel import Kernel
from dntk_core.kernels.orthogonal import basis_in_order
from dntk_core.kernels.spectrum import Between


@dataclass(frozen=True)
class Containment:
    """Property (A) at truncation ε, for r = 1 … r_g.

    curves:      (H, r_g)  share of cluster h's local variance inside the first r global eigenvectors
    maximum, mean, minimum: (r_g,)  of the curves over clusters
    table:       (H, r_g)  (u_j|h)ᵀ K_h (u_j|h) / tr K_h, cluster h's variance along global direction j
    local_ranks: (H,)      r_h
    global_rank: int       r_g, or less where fewer eigenvectors are known
    sizes:       (H,)      inputs of each cluster
    bounds:      Between   where r_g really lies
    """

    curves: np.ndarray
    maximum: np.ndarray
    mean: np.ndarray
    minimum: np.ndarray
    table: np.ndarray
    local_ranks: np.ndarray
    global_rank: int
    sizes: np.ndarray
    bounds: Between

    def testable(self, rank: int) -> np.ndarray:
        """Mark the clusters of more than `rank` inputs: in others any `rank` directions hold everything: (H,) bool."""
        return self.sizes > rank


@dataclass(frozen=True)
class Coverage:
    """Property (B) at truncation ε, for each global direction j = 1 … r_g.

    energy:      (H, r_g)  ‖P_h u_j|h‖², what cluster h's local eigenspace holds of u_j
    alignment:   (H, r_g)  ‖P_h u_j|h‖² / ‖u_j|h‖², the same as a share of u_j's part in that cluster
    maximum, mean: (r_g,)  of the alignment over clusters
    union:       (r_g,)    ‖Π_loc u_j‖² = Σ_h energy, what all local eigenspaces together hold
    eigenvalues: (r_g,)    σ_j
    uncovered:   float     Σ_j σ_j (1 - union_j) / Σ_j σ_j, the share of global variance no cluster holds
    misaligned:  float     (1/r_g) Σ_j (1 - mean_j), the mean over directions, each counted alike
    bounds:      Between   where r_g really lies

    Over all j, Σ_j σ_j (1 - union_j) = Σ_h tail_h <= ε tr K, what truncation drops of every cluster. So `uncovered`
    can never exceed ε/(1-ε) where ranks are by the gradients' energy, whatever the kernel; `misaligned` can.
    """

    energy: np.ndarray
    alignment: np.ndarray
    maximum: np.ndarray
    mean: np.ndarray
    union: np.ndarray
    eigenvalues: np.ndarray
    uncovered: float
    misaligned: float
    bounds: Between


def containment(
    kernel: np.ndarray | Kernel, labels: np.ndarray, epsilon: float, energy: str = "gradients"
) -> Containment:
    """Measure property (A): Σ_j σ_j ‖Π_glob u_hj‖² / Σ_j σ_j over j <= r_h, per cluster and global rank.

    energy: one of ENERGIES, of which all ranks keep a share 1-ε
    """
    return containment_of(decompose(kernel, labels).by(energy), epsilon)


def coverage(kernel: np.ndarray | Kernel, labels: np.ndarray, epsilon: float, energy: str = "gradients") -> Coverage:
    """Measure property (B): ‖Π_loc u_j‖² for each global direction; energy as for (A)."""
    return coverage_of(decompose(kernel, labels).by(energy), epsilon)


def containment_of(parts: Decomposition, epsilon: float) -> Containment:
    """Measure property (A) on a decomposition at hand.

    In local coordinates the local eigenvectors are unit vectors, so ‖Π_glob u_hj‖² is a row sum of squares
    of the orthonormalised restrictions of the global ones.
    """
    r_g = parts.global_rank(epsilon)
    weight = np.where(parts.leading(epsilon), parts.values, 0.0)
    curves = np.empty((parts.H, r_g))
    stops = np.append(parts.starts[1:], len(parts.cluster))
    for h, (start, stop) in enumerate(zip(parts.starts, stops, strict=True)):
        restricted = parts.overlap[start:stop, :r_g]
        largest = np.sqrt(np.max(np.sum(restricted**2, axis=0)))
        inside = np.cumsum(basis_in_order(restricted, 1e-8 * largest) ** 2, axis=1)
        total = np.sum(weight[start:stop])
        # A cluster without variance has nothing that could lie outside.
        curves[h] = weight[start:stop] @ inside / total if total > 0 else 1.0
    trace = np.array([[each.trace] for each in parts.locals])
    along = parts.per_cluster(parts.values[:, None] * parts.overlap[:, :r_g] ** 2)
    table = np.divide(along, trace, out=np.zeros_like(along), where=trace > 0)
    curves = np.minimum(curves, 1.0)
    extremes = curves.max(axis=0), curves.mean(axis=0), curves.min(axis=0)
    sizes, bounds = np.bincount(parts.labels), parts.bounds(epsilon)
    return Containment(curves, *extremes, table, parts.local_ranks(epsilon), r_g, sizes, bounds)


def coverage_of(parts: Decomposition, epsilon: float) -> Coverage:
    """Measure property (B) on a decomposition at hand."""
    r_g = parts.global_rank(epsilon)
    energy, alignment = local_alignment(parts, epsilon, r_g)
    union = np.minimum(energy.sum(axis=0), 1.0)
    values = parts.spectrum.values[:r_g]
    total = values.sum()
    uncovered = float(values @ (1.0 - union) / total) if total > 0 else 0.0
    mean = alignment.mean(axis=0)
    misaligned, bounds = float(np.mean(1.0 - mean)), parts.bounds(epsilon)
    return Coverage(energy, alignment, alignment.max(axis=0), mean, union, values, uncovered, misaligned, bounds)


def local_alignment(parts: Decomposition, epsilon: float, r_g: int) -> tuple[np.ndarray, np.ndarray]:
    """Return ‖P_h u_j|h‖² and its share of ‖u_j|h‖², both (H, r_g), P_h from ranks truncated at ε."""
    squares = parts.overlap[:, :r_g] ** 2
    present = parts.per_cluster(squares)
    energy = parts.per_cluster(squares * parts.leading(epsilon)[:, None])
    # A cluster where u_j is only rounding says nothing about it.
    share = np.divide(energy, present, out=np.zeros_like(energy), where=present > 1e-24)
    return energy, np.minimum(share, 1.0)
