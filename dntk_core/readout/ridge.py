"""Kernel ridge regression on distilled gradients: f^c(x*) = k*^c(x*)ᵀ Aᵀ (A K^c Aᵀ + λI)⁻¹ A y_c."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg import solve_triangular

from dntk_core.base.errors import DNTKError
from dntk_core.distill.mixing import Mixing
from dntk_core.kernels.class_kernels import LARGEST_DENSE, Kernels
from dntk_core.kernels.gram import Grams, transposed_times
from dntk_core.kernels.ridge import absolute_ridge


@dataclass(frozen=True)
class Problem:
    """What a readout is fitted to and judged on.

    kernels: Kernels  train (C, m, m), cross (C, t, m)
    targets: (m, C)   Y, the network's logits at the kernel inputs
    logits:  (t, C)   the network's logits at the test inputs
    labels:  (t,)     true classes of the test inputs, 0..C-1; not every class need occur
    """

    kernels: Kernels
    targets: np.ndarray
    logits: np.ndarray
    labels: np.ndarray

    def __post_init__(self):
        C, t, m = self.kernels.cross.shape
        for name, wanted in (("targets", (m, C)), ("logits", (t, C)), ("labels", (t,))):
            if getattr(self, name).shape != wanted:
                raise DNTKError(f"{name} must be {wanted} to fit the kernels, got {getattr(self, name).shape}")
        if t == 0 or self.labels.min() < 0 or self.labels.max() >= C:
            raise DNTKError(f"labels must be at least one class in 0..{C - 1}, got {np.unique(self.labels)}")


@dataclass(frozen=True)
class Scores:
    """Accuracy against the labels, fidelity = share of argmax f_K = argmax f, MSE over logits."""

    accuracy: float
    fidelity: float
    mse: float


@dataclass(frozen=True)
class Compressed:
    """A mixing applied to a problem: all that a ridge solve needs.

    matrix:  (s, m)     A
    gram:    (C, s, s)  A K^c Aᵀ
    targets: (C, s)     A y_c
    """

    matrix: np.ndarray
    gram: np.ndarray
    targets: np.ndarray


def compress(kernels: Kernels, targets: np.ndarray, mixing: Mixing | None) -> Compressed:
    """Form A K^c Aᵀ and A Y; no mixing means A = I."""
    if mixing is None:
        if not kernels.dense:
            raise DNTKError(
                f"the kernels of {len(targets):,} inputs are kept as features; this needs a mixing, or fewer inputs "
                f"(dense kernels up to {LARGEST_DENSE:,})"
            )
        return Compressed(np.eye(len(targets)), kernels.train, np.ascontiguousarray(targets.T))
    A = mixing.matrix
    if A.shape[1] != len(targets):
        raise DNTKError(f"the mixing is for {A.shape[1]} inputs, the kernels have {len(targets)}")
    return Compressed(A, compressed_kernels(kernels.train, mixing), (A @ targets).T)


def compressed_kernels(train: np.ndarray | Grams, mixing: Mixing) -> np.ndarray:
    """Return A K^c Aᵀ for train (C, m, m): (C, s, s).

    Rows of one cluster mix only its inputs; leaving out the zeros makes this some H times cheaper.
    """
    if isinstance(train, Grams):
        mixed = (transposed_times(Phi, np.ascontiguousarray(mixing.matrix.T)) for Phi in train.features)
        return np.stack([M.T @ M for M in mixed])
    blocks = [(rows, inputs, mixing.matrix[np.ix_(rows, inputs)]) for rows, inputs in mixing.blocks]
    gram, half = np.empty((len(train), mixing.size, mixing.size)), np.empty(mixing.matrix.shape)
    for K, G in zip(train, gram, strict=True):
        for rows, inputs, block in blocks:
            half[rows] = block @ K[inputs]
        for rows, inputs, block in blocks:
            G[:, rows] = half[:, inputs] @ block.T
    return gram


def ridge_factor(gram: np.ndarray, lam: float) -> np.ndarray:
    """Factorise G^c + λI = L Lᵀ for grams (C, s, s): L (C, s, s)."""
    try:
        return np.linalg.cholesky(gram + lam * np.eye(gram.shape[-1]))
    except np.linalg.LinAlgError:
        raise DNTKError(f"A K Aᵀ + λI is singular to working precision at λ = {lam:.3g}; raise the ridge") from None


def prefix_coefficients(factor: np.ndarray, targets: np.ndarray, sizes: Sequence[int]) -> np.ndarray:
    """Solve the leading s_i × s_i systems for all sizes from one factor: β_i = L_iᵀ⁻¹ L_i⁻¹ b_i.

    L_i, b_i are the first s_i rows; as L_i⁻¹ b_i is nested, forward substitution is done once.
    factor (C, s, s), targets (C, s), sizes (q,): (C, s, q), zero below row s_i.
    """
    C, s, _ = factor.shape
    within = np.arange(s)[:, None] < np.asarray(sizes)
    beta = np.empty((C, s, within.shape[1]))
    for c in range(C):
        forward = solve_triangular(factor[c], targets[c], lower=True, check_finite=False)
        beta[c] = solve_triangular(factor[c], forward[:, None] * within, trans=1, lower=True, check_finite=False)
    return beta


def coefficients(compressed: Compressed, lam: float, sizes: Sequence[int] | None = None) -> np.ndarray:
    """Solve for the weights of the original inputs, α^c = Aᵀ (A K^c Aᵀ + λI)⁻¹ A y_c: (C, m, q).

    A are the first s rows for each s in sizes (q,), by default all rows (q = 1); one factorisation serves them all.
    """
    sizes = [len(compressed.matrix)] if sizes is None else sizes
    return compressed.matrix.T @ prefix_coefficients(ridge_factor(compressed.gram, lam), compressed.targets, sizes)


def fit(kernels: Kernels, targets: np.ndarray, mixing: Mixing | None, lam: float) -> np.ndarray:
    """Solve for the weights of the original inputs in one readout: (C, m, 1)."""
    if mixing is None and not kernels.dense:
        return kernels.train.solve(targets, lam)[..., None]
    return coefficients(compress(kernels, targets, mixing), lam)


def predict(kernels: Kernels, targets: np.ndarray, mixing: Mixing | None, ridge: float) -> np.ndarray:
    """Predict the test logits from distilled gradients, f^c = K*^c α^c: (t, C)."""
    alpha = fit(kernels, targets, mixing, absolute_ridge(kernels, ridge))
    return (kernels.cross @ alpha)[..., 0].T


def score(predictions: np.ndarray, logits: np.ndarray, labels: np.ndarray) -> Scores:
    """Judge predictions (t, C) by the network's logits (t, C) and the labels (t,).

    >>> score(np.eye(2), np.eye(2), np.array([0, 0]))
    Scores(accuracy=0.5, fidelity=1.0, mse=0.0)
    """
    choice = predictions.argmax(axis=1)
    return Scores(
        float(np.mean(choice == labels)),
        float(np.mean(choice == logits.argmax(axis=1))),
        float(np.mean((predictions - logits) ** 2)),
    )


def score_coefficients(problem: Problem, alpha: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Score q readouts at once: alpha (C, m, q) to accuracy, fidelity, mse, each (q,).

    Class by class, so that only (t, q) predictions exist at a time.
    """
    return score_predictions(problem, (cross @ a for cross, a in zip(problem.kernels.cross, alpha, strict=True)))


def score_predictions(problem: Problem, predictions: Iterable[np.ndarray]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Score q predictors at once: for each class in turn its predictions (t, q), which are overwritten."""
    C, t, _ = problem.kernels.cross.shape
    for c, f in enumerate(predictions):
        if c == 0:
            best, choice, squares = np.full(f.shape, -np.inf), np.zeros(f.shape, np.int32), np.zeros(f.shape[1])
        np.copyto(choice, c, where=f > best)
        np.maximum(best, f, out=best)
        f -= problem.logits[:, c, None]
        squares += np.einsum("tq,tq->q", f, f)
    accuracy = np.mean(choice == problem.labels[:, None], axis=0)
    fidelity = np.mean(choice == problem.logits.argmax(axis=1)[:, None], axis=0)
    return accuracy, fidelity, squares / (t * C)


def evaluate(problem: Problem, mixing: Mixing | None, ridge: float) -> Scores:
    """Fit and judge one readout."""
    alpha = fit(problem.kernels, problem.targets, mixing, absolute_ridge(problem.kernels, ridge))
    return Scores(*(float(value[0]) for value in score_coefficients(problem, alpha)))


def evaluate_compressed(problem: Problem, compressed: Compressed, ridge: float) -> Scores:
    """Fit and judge a readout whose compression is at hand."""
    alpha = coefficients(compressed, absolute_ridge(problem.kernels, ridge))
    return Scores(*(float(value[0]) for value in score_coefficients(problem, alpha)))
