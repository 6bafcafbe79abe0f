"""What the tangent subspace V(D̃) of chosen inputs captures, from projected gradients alone.

V(D̃) = span{φ^c(x̃_i)} is r-dimensional in R^P, and seen in R^k. What lies outside V lies in P - r dimensions, of which
the projection leaves k - r: residuals come out too small, by a factor that is known, and are scaled back here.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np

from dntk_core.base.errors import DNTKError
from dntk_core.readout.probabilities import softmax


@dataclass(frozen=True)
class Capture:
    """‖Φ(I-Π)‖² = PCA tail + misalignment (Proposition "Energy-gap decomposition").

    rank:   r, the dimension of V
    total:  ‖Φ‖²
    missed: ‖Φ(I-Π)‖²
    tail:   Σ_{j>r} σ_j², what the best subspace of that rank misses
    """

    rank: int
    total: float
    missed: float
    tail: float

    @property
    def misalignment(self) -> float:
        """tr(ΦᵀΦ Π*) - tr(ΦᵀΦ Π) >= 0: what this subspace misses beyond the tail."""
        return self.missed - self.tail

    @property
    def energy(self) -> float:
        """Share of the energy that V captures, 1 - ‖Φ(I-Π)‖²/‖Φ‖²."""
        return 1.0 - self.missed / self.total

    @property
    def relative(self) -> float:
        """(1 - E)/(1 - E_PCA) >= 1: how many times more is missed than need be."""
        return self.missed / self.tail if self.tail > 0 else 1.0


@dataclass(frozen=True)
class KernelError:
    """error: ‖K - ΦΠΦᵀ‖_F = ‖Φ(I-Π)Φᵀ‖_F; bound: ‖Φ‖ ‖Φ(I-Π)‖ on it; norm: ‖K‖_F."""

    error: float
    bound: float
    norm: float


@dataclass(frozen=True)
class OneStep:
    """The terms of the theorem "One-step smoothness regret bound", averaged over tasks t.

    gradient:    E‖g_t‖²
    residual:    E‖(I-Π) g_t‖²
    tail:        Σ_{j>r} λ_j of E[g_t g_tᵀ], the least residual of any subspace of that rank (corollary)
    decrease:    (1/2L) E‖Π g_t‖², the decrease the best step within V guarantees
    coefficient: E[-⟨g_t, Δθ*_t⟩ - η⟨g_t, g_D̃⟩], the price of Ỹ's coefficients
    quadratic:   (L/2) E[η²‖g_D̃‖² - ‖Δθ*_t‖²]
    smoothness:  L; the step is η = 1/L
    """

    gradient: float
    residual: float
    tail: float
    decrease: float
    coefficient: float
    quadratic: float
    smoothness: float

    @property
    def regret(self) -> float:
        """E[M_t(Δθ_D̃) - M_t(Δθ*_t)] = (L/2) E‖Δθ_D̃ - Δθ*_t‖² >= 0."""
        return self.coefficient + self.quadratic


@dataclass(frozen=True)
class Subspace:
    """V as seen in R^k: basis (k, r), orthonormal columns; P: the dimension it is seen from."""

    basis: np.ndarray
    P: int

    @property
    def rank(self) -> int:
        return self.basis.shape[1]

    @property
    def outside(self) -> float:
        """What a squared residual is multiplied by to make up for the projection: (P-r)/P · k/(k-r); 1 for k = P."""
        k, r = self.basis.shape
        return (self.P - r) / self.P * k / (k - r)


def subspace(features: np.ndarray, P: int) -> Subspace:
    """Find the span of gradients (C, m, k) or (m, k) that were projected from R^P."""
    stacked = np.asarray(features, dtype=np.float64).reshape(-1, features.shape[-1])
    rows, k = stacked.shape
    if rows > k // 2:
        raise DNTKError(
            f"{rows} gradients span too much of the k = {k} projected dimensions to judge what they miss; "
            f"project to k >= {2 * rows} or choose fewer inputs"
        )
    _, values, basis = np.linalg.svd(stacked, full_matrices=False)
    return Subspace(basis[values > rows * np.finfo(np.float32).eps * values[0]].T, P)


def centred(features: np.ndarray) -> np.ndarray:
    """Take each logit's mean gradient away: features (C, n, k) to rows (C·n, k), logit after logit."""
    Phi = np.asarray(features, dtype=np.float64)
    return (Phi - Phi.mean(axis=1, keepdims=True)).reshape(-1, Phi.shape[-1])


@dataclass(frozen=True)
class Reference:
    """Gradients Φ (n, k) that a subspace is judged on, and their energies σ_j², descending, which judge any rank."""

    Phi: np.ndarray
    energies: np.ndarray


def reference(Phi: np.ndarray) -> Reference:
    """Find the energies σ_j(Φ)² of gradients (n, k)."""
    return Reference(Phi, np.clip(np.linalg.eigvalsh(_smaller_gram(Phi))[::-1], 0.0, None))


def capture(judged: Reference, V: Subspace) -> Capture:
    """Measure what a subspace captures of the reference gradients."""
    total = float(judged.energies.sum())
    missed = min(V.outside * max(total - float(np.sum((judged.Phi @ V.basis) ** 2)), 0.0), total)
    return Capture(V.rank, total, missed, tail=min(V.outside * float(judged.energies[V.rank :].sum()), missed))


def kernel_error(judged: Reference, V: Subspace) -> KernelError:
    """Measure the error of the kernel ΦΠΦᵀ that a subspace leaves, and the paper's bound on it."""
    rest = judged.Phi - (judged.Phi @ V.basis) @ V.basis.T
    error = V.outside * float(np.linalg.norm(_smaller_gram(rest)))
    caught = capture(judged, V)
    return KernelError(error, float(np.sqrt(caught.total * caught.missed)), float(np.linalg.norm(judged.energies)))


def together(captures: Sequence[Capture]) -> Capture:
    """Sum what the class kernels' own subspaces capture."""
    return Capture(*(sum(getattr(each, part.name) for each in captures) for part in fields(Capture)))


def of_all_classes(errors: Sequence[KernelError]) -> KernelError:
    """Join the errors of the class kernels, as of one block-diagonal kernel."""
    return KernelError(*(float(np.linalg.norm([getattr(e, p.name) for e in errors])) for p in fields(KernelError)))


def _smaller_gram(Phi: np.ndarray) -> np.ndarray:
    """ΦᵀΦ or ΦΦᵀ, which have the same eigenvalues but for zeros and the same Frobenius norm."""
    return Phi.T @ Phi if len(Phi) > Phi.shape[1] else Phi @ Phi.T


def sensitivities(logits: np.ndarray, labels: np.ndarray, outputs: str = "logits") -> np.ndarray:
    """Return δ = ∂(cross-entropy)/∂outputs: (n, C), for logits (n, C) and labels (n,).

    Cross-entropy is softmax(f) - e_y to logits, and -e_y to log-probabilities.
    """
    hot = np.eye(logits.shape[1])[labels]
    if outputs == "log_softmax":
        return -hot
    return softmax(logits) - hot


def loss_gradients(features: np.ndarray, delta: np.ndarray) -> np.ndarray:
    """Combine logit gradients by the chain rule, g_i = Σ_c δ_ic φ^c(x_i): (C, n, k), (n, C) to (n, k)."""
    return np.einsum("nc,cnk->nk", delta, np.asarray(features, dtype=np.float64))


# The largest curvature of the cross-entropy: diag p - p pᵀ <= ½ to logits, diag p <= 1 to log-probabilities.
CURVATURE = {"logits": 0.5, "log_softmax": 1.0}


def smoothness(features: np.ndarray, outputs: str = "logits") -> float:
    """Bound the smoothness of every input's cross-entropy with frozen features (C, n, k).

    L = curvature · max_i λ_max(J_i J_iᵀ), J_i the C gradients of input i.
    """
    J = np.asarray(features, dtype=np.float64).transpose(1, 0, 2)
    return CURVATURE[outputs] * float(np.linalg.eigvalsh(J @ J.transpose(0, 2, 1)).max())


def one_step(tasks: np.ndarray, update: np.ndarray, V: Subspace, L: float) -> OneStep:
    """Evaluate the theorem for task gradients g_t (n, k), a realised gradient g_D̃ (k,) in V, and η = 1/L.

    The theorem's first term is printed with +⟨g_t, Δθ*⟩; the difference of the two quadratic models has a minus.
    """
    gradient = float(np.mean(np.sum(tasks**2, axis=1)))
    residual = V.outside * (gradient - float(np.mean(np.sum((tasks @ V.basis) ** 2, axis=1))))
    held = gradient - residual
    values = np.clip(np.linalg.eigvalsh(tasks @ tasks.T)[::-1], 0.0, None) / len(tasks)
    return OneStep(
        gradient=gradient,
        residual=residual,
        tail=V.outside * float(values[V.rank :].sum()),
        decrease=held / (2 * L),
        coefficient=(held - float(np.mean(tasks @ update))) / L,
        quadratic=(float(update @ update) - held) / (2 * L),
        smoothness=L,
    )
