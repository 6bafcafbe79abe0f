"""Kernel ridge regression on distilled gradients: f^c(x*) = k*^c(x*)ᵀ Aᵀ β^c, with β^c from one of two READOUTS."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg import solve_triangular

from dntk_core.base.errors import DNTKError
from dntk_core.distill.local_global import Lifted
from dntk_core.distill.mixing import Mixing
from dntk_core.kernels.class_kernels import ClassKernels
from dntk_core.kernels.features import transposed_times
from dntk_core.kernels.ridge import absolute_ridge
from dntk_core.kernels.rotated import Products, Rotated, grams
from dntk_core.kernels.shared import once
from dntk_core.kernels.subspace import largest_energy, span_factor
from dntk_core.readout.compressed import Compressed, Featured
from dntk_core.readout.nearby import solve_nearby
from dntk_core.readout.problem import Problem
from dntk_core.readout.scores import Scores, only, score_coefficients, score_predictions

SINGULAR = "A K Aᵀ + λI is singular to working precision at λ = {lam:.3g}; raise the ridge"
# Rows of one mixing that are each compressed by themselves: indices.
Subsets = Sequence[np.ndarray]


@dataclass(frozen=True)
class Readout:
    """One way to fit s distilled gradients.

    compress: (kernels, targets (m, C), mixing, subsets of its rows) → a Compressed per subset
    """

    compress: Callable[[ClassKernels, np.ndarray, Mixing, Subsets], list[Compressed]]
    title: str
    summary: str


def averaged_targets(kernels: ClassKernels, targets: np.ndarray, mixing: Mixing, subsets: Subsets) -> list[Compressed]:
    """Regress on the s targets A y_c: G^c = A K^c Aᵀ, b^c = A y_c."""
    mixed, averaged = kernels.mixed(mixing.matrix, mixing.blocks), (mixing.matrix @ targets).T
    gram = kernels.between(mixing.matrix, mixing.blocks) if mixed is None else np.stack([*map(grams, mixed)])
    return [
        Compressed(
            mixing.matrix[rows],
            once(lambda each, rows=rows: each[:, rows[:, None], rows], gram),
            averaged[:, rows],
            mixed=None if mixed is None else mixed[:, rows],
        )
        for rows in subsets
    ]


def every_target(kernels: ClassKernels, targets: np.ndarray, mixing: Mixing, subsets: Subsets) -> list[Compressed]:
    """Minimise Σ_i (f(x_i) - y_i)² + λ‖f‖² over the span of the same s gradients, all m targets seen.

    With A K^c Aᵀ = L Lᵀ the gradients have coordinates F = K^c Aᵀ L⁻ᵀ (m, s) in an orthonormal basis of that span, and
    G^c = FᵀF, b^c = Fᵀ y_c, β^c = L⁻ᵀ w^c. Equal to (A K² Aᵀ + λ A K Aᵀ) β = A K y, but not squared in condition.
    """
    systems: list[list[tuple]] = [[] for _ in subsets]
    mixed = kernels.mixed(mixing.matrix, mixing.blocks)
    for trace, half, y in zip(kernels.traces, kernels.rows_times(mixing.matrix, mixing.blocks), targets.T, strict=True):
        gram = half @ mixing.matrix.T
        for found, rows in zip(systems, subsets, strict=True):
            L = span_factor(gram[np.ix_(rows, rows)], largest_energy(mixing.matrix[rows], trace))
            F = solve_triangular(L, half[rows], lower=True, check_finite=False)
            found.append((F @ F.T, F @ y, L))
    stacked = ((np.stack(part) for part in zip(*found, strict=True)) for found in systems)
    return [
        Compressed(mixing.matrix[rows], *parts, mixed=None if mixed is None else mixed[:, rows])
        for rows, parts in zip(subsets, stacked, strict=True)
    ]


READOUTS: dict[str, Readout] = {
    "paper": Readout(averaged_targets, "averaged targets", "the paper's: fitted to the s mixed targets AY"),
    "nystrom": Readout(every_target, "every target (Nyström)", "the same s gradients, fitted to all m targets"),
}


def readout(name: str) -> Readout:
    """Look a readout up by its name."""
    if name not in READOUTS:
        raise DNTKError(f"the readout must be one of {', '.join(READOUTS)}, got {name!r}")
    return READOUTS[name]


def compress(kernels: ClassKernels, targets: np.ndarray, mixing: Mixing, by: str = "paper") -> Compressed:
    """Apply a mixing to a problem for the readout `by`."""
    if mixing.matrix.shape[1] != len(targets):
        raise DNTKError(f"the mixing is for {mixing.matrix.shape[1]} inputs, the kernels have {len(targets)}")
    return readout(by).compress(kernels, targets, mixing, [np.arange(mixing.size)])[0]


def compress_rotated(rotated: Rotated, whole: np.ndarray, targets: np.ndarray, mixing: Lifted) -> Compressed:
    """Apply Algorithm 1's rows for averaged targets, those of local and of global eigenvectors (C, g, k) at hand."""
    mixed, averaged = rotated.choose(mixing.local, whole, mixing.gaps), mixing.averaged(targets).T
    if mixing.size <= whole.shape[2]:
        return Compressed(None, Products(mixed), averaged, mixed=mixed)
    weighed = np.stack([transposed_times(rows, b) for rows, b in zip(mixed, averaged, strict=True)])
    return Featured(None, Products(mixed), weighed, rows=mixing.size)


def ridge_factor(gram: np.ndarray | Products, lam: float) -> np.ndarray:
    """Factorise G^c + λI = L Lᵀ for grams (C, s, s): L (C, s, s)."""
    try:
        return once(lambda each: np.linalg.cholesky(each + lam * np.eye(each.shape[-1])), np.asarray(gram))
    except np.linalg.LinAlgError:
        raise DNTKError(SINGULAR.format(lam=lam)) from None


def prefix_coefficients(factor: np.ndarray, targets: np.ndarray, sizes: Sequence[int] | np.ndarray) -> np.ndarray:
    """Solve the leading s_i × s_i systems for all sizes from one factor: w_i = L_iᵀ⁻¹ L_i⁻¹ b_i.

    L_i, b_i are the first s_i rows; as L_i⁻¹ b_i is nested, forward substitution is done once.
    factor (C, s, s), targets (C, s), sizes (q,): (C, s, q), zero below row s_i.
    """
    C, s, _ = factor.shape
    within = np.arange(s)[:, None] < np.asarray(sizes)
    w = np.empty((C, s, within.shape[1]))
    for c in range(C):
        forward = solve_triangular(factor[c], targets[c], lower=True, check_finite=False)
        w[c] = solve_triangular(factor[c], forward[:, None] * within, trans=1, lower=True, check_finite=False)
    return w


def solutions(compressed: Compressed, lam: float, sizes: Sequence[int] | np.ndarray | None = None) -> np.ndarray:
    """Solve (G^c + λI) w^c = b^c for the first s rows for each s in sizes (q,), by default all (q = 1): (C, s, q)."""
    if sizes is None and not compressed.needs_inputs:
        try:
            return solve_nearby(compressed.gram, compressed.targets, lam, compressed.factors)
        except np.linalg.LinAlgError:
            raise DNTKError(SINGULAR.format(lam=lam)) from None
    sizes = [compressed.size] if sizes is None else sizes
    return prefix_coefficients(ridge_factor(compressed.gram, lam), compressed.targets, sizes)


def coefficients(compressed: Compressed, lam: float, sizes: Sequence[int] | np.ndarray | None = None) -> np.ndarray:
    """Solve for the weights of the original inputs, α^c = Aᵀ β^c: (C, m, q), sizes as in `solutions`."""
    return np.stack([compressed.lift(c, w) for c, w in enumerate(solutions(compressed, lam, sizes))])


def score_solutions(problem: Problem, solved: Sequence[tuple[Compressed, np.ndarray]]) -> dict[str, np.ndarray]:
    """Score readouts by their solutions w (C, s, q), all of them in one pass over the cross kernels: every metric's."""
    if any(compressed.needs_inputs for compressed, _ in solved):
        lifted = [np.stack([compressed.lift(c, w) for c, w in enumerate(each)]) for compressed, each in solved]
        return score_coefficients(problem, np.concatenate(lifted, axis=2))
    found = [score_predictions(problem, predictions(problem.kernels, *pair)) for pair in solved]
    return {name: np.concatenate([each[name] for each in found]) for name in found[0]}


def predictions(kernels: ClassKernels, compressed: Compressed, solved: np.ndarray) -> Iterator[np.ndarray]:
    """Predict the test logits by solutions w (C, s, q), class by class: (t, q)."""
    if isinstance(compressed, Featured):
        return kernels.predict_features(solved)
    beta = np.stack([compressed.weights(c, w) for c, w in enumerate(solved)])
    if compressed.mixed is not None:
        return kernels.predict_mixed(compressed.mixed, beta)
    return kernels.predict(np.stack([compressed.lift(c, w) for c, w in enumerate(solved)]))


def readout_coefficients(
    kernels: ClassKernels, targets: np.ndarray, mixing: Mixing | None, lam: float, by: str = "paper"
) -> np.ndarray:
    """Solve for the weights of the original inputs in one readout, the full one without a mixing: (C, m, 1)."""
    if mixing is None:
        return kernels.solve(targets, lam)[..., None]
    return coefficients(compress(kernels, targets, mixing, by), lam)


def predict(
    kernels: ClassKernels, targets: np.ndarray, mixing: Mixing | None, ridge: float, by: str = "paper"
) -> np.ndarray:
    """Predict the test logits from distilled gradients, f^c = K*^c α^c: (t, C)."""
    alpha = readout_coefficients(kernels, targets, mixing, absolute_ridge(kernels, ridge), by)
    return np.stack([f[:, 0] for f in kernels.predict(alpha)], axis=1)


def evaluate(problem: Problem, mixing: Mixing | None, ridge: float, by: str = "paper") -> Scores:
    """Fit and judge one readout."""
    lam = absolute_ridge(problem.kernels, ridge)
    alpha = readout_coefficients(problem.kernels, problem.targets, mixing, lam, by)
    return only(score_coefficients(problem, alpha))


def evaluate_compressed(problem: Problem, compressed: Compressed, ridge: float) -> Scores:
    """Fit and judge a readout whose compression is at hand."""
    return only(score_solutions(problem, [(compressed, solutions(compressed, absolute_ridge(problem.kernels, ridge)))]))
