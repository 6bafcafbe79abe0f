"""A fitted readout, full or on distilled gradients, as the linear map from targets to predictions that it is.

f^c(x) = Σ_i K^c(x, x_i) α^c_i = Σ_i S^c_i(x) y^c_i. Attribution reads α and S, leaving an input out asks both: the
prediction of x changes by S_i(x) times the residual of input i when it is left out.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.linalg import cho_solve, cholesky, get_lapack_funcs, solve_triangular

from dntk_core.base.errors import DNTKError
from dntk_core.base.threads import each
from dntk_core.distill.mixing import Mixing
from dntk_core.kernels.class_kernels import ClassKernels
from dntk_core.kernels.modes import Modes
from dntk_core.readout.compressed import Compressed
from dntk_core.readout.leave_one_out import residuals, solutions
from dntk_core.readout.ridge import compress, ridge_factor


@dataclass(frozen=True, eq=False)
class FullFit:
    """The readout of targets (m, C) by all m gradients: S^c(x) = (K^c + λI)⁻¹ k^c(x)."""

    kernels: ClassKernels
    targets: np.ndarray
    lam: float
    modes: Sequence[Modes]

    @property
    def nbytes(self) -> int:
        """What is its own: targets, weights, residuals. Kernels and modes are held by whoever gave them."""
        return 3 * self.targets.nbytes

    @cached_property
    def alpha(self) -> np.ndarray:
        """α^c, weights of the kernel inputs: (C, m)."""
        return np.stack([solutions(each, np.array([self.lam]))[:, 0] for each in self.modes])

    @cached_property
    def left_out(self) -> np.ndarray:
        """y_i - f_{-i}(x_i), the residual of each input when its target is left out: (m, C)."""
        return np.stack([residuals(each, np.array([self.lam]))[:, 0] for each in self.modes], axis=1)

    def smoothing(self, c: int, index: np.ndarray) -> np.ndarray:
        """S^c of some test inputs: (q, m)."""
        return self.modes[c].solve_tests(index, self.lam)


@dataclass(frozen=True, eq=False)
class FactoredFit:
    """The same readout at one λ where kernels are arrays: L Lᵀ = K^c + λI, a fraction of what eigenvectors cost.

    Where all classes share a kernel, there is one factor.
    """

    kernels: ClassKernels
    targets: np.ndarray
    lam: float

    @property
    def nbytes(self) -> int:
        """Targets, weights, residuals, and factors (C, m, m), or one of them."""
        m, C = self.targets.shape
        return 3 * self.targets.nbytes + 8 * m * m * (1 if self.kernels.shared else C)

    @cached_property
    def _factors(self) -> list[np.ndarray]:
        every = np.arange(len(self.targets))
        shift = self.lam * np.eye(len(every))

        def factor(c: int) -> np.ndarray:
            K = self.kernels.kernel(c).rows(every)
            return cholesky(K + shift, lower=True, overwrite_a=True, check_finite=False)

        return self._of_all(factor)

    @cached_property
    def alpha(self) -> np.ndarray:
        """α^c, weights of the kernel inputs: (C, m)."""
        return np.stack([cho_solve((L, True), y) for L, y in zip(self._factors, self.targets.T, strict=True)])

    @cached_property
    def left_out(self) -> np.ndarray:
        """α_i/G_ii, G = L⁻ᵀL⁻¹: (m, C)."""
        (inverse,) = get_lapack_funcs(("trtri",), (self._factors[0],))
        diagonals = self._of_all(lambda c: np.square(inverse(self._factors[c], lower=1)[0]).sum(axis=0))
        return (self.alpha / np.stack(diagonals)).T

    def smoothing(self, c: int, index: np.ndarray) -> np.ndarray:
        """S^c of some test inputs: (q, m)."""
        return cho_solve((self._factors[c], True), self.kernels.cross_rows(c, index).T, check_finite=False).T

    def _of_all(self, function: Callable[[int], np.ndarray]) -> list[np.ndarray]:
        """A function of every class's kernel."""
        C = self.targets.shape[1]
        return [function(0)] * C if self.kernels.shared else each(function, range(C))


@dataclass(frozen=True, eq=False)
class Applied:
    """A mixing A (s, m) applied to kernels and targets (m, C) for the readout `by`: all that no ridge changes."""

    kernels: ClassKernels
    targets: np.ndarray
    mixing: Mixing
    by: str = "paper"

    @property
    def nbytes(self) -> int:
        """Targets, systems (C, s, s), twice where all targets are seen, and A K^c where it is kept."""
        s, m = self.mixing.matrix.shape
        return self.targets.nbytes + 8 * self.kernels.shape[0] * s * (2 * s + (m if self.kernels.dense else 0))

    @cached_property
    def compressed(self) -> Compressed:
        return compress(self.kernels, self.targets, self.mixing, self.by)

    @property
    def halves(self) -> Iterable[np.ndarray]:
        """A K^c of every class, (s, m) each; kept where kernels are arrays, which are larger."""
        return self._halves if self.kernels.dense else self._met()

    @cached_property
    def _halves(self) -> list[np.ndarray]:
        return [*self._met()]

    def _met(self) -> Iterator[np.ndarray]:
        return self.kernels.rows_times(self.mixing.matrix, self.mixing.blocks)


@dataclass(frozen=True, eq=False)
class DistilledFit:
    """The readout of s distilled gradients, which stay as they are when a target is left out.

    β^c is linear in the targets, so S^c(x) = k^c(x)ᵀ Aᵀ M^c A or, all targets seen, k^c(x)ᵀ Aᵀ M^c A K^c. A target that
    is left out is replaced by what the readout itself then predicts there, v = f(x_i) - S_i(x_i)(y_i - v).
    """

    applied: Applied
    lam: float

    @property
    def nbytes(self) -> int:
        """Weights, residuals, and factors (C, s, s)."""
        return 2 * self.targets.nbytes + 8 * self.targets.shape[1] * len(self.mixing.matrix) ** 2

    @property
    def kernels(self) -> ClassKernels:
        return self.applied.kernels

    @property
    def targets(self) -> np.ndarray:
        return self.applied.targets

    @property
    def mixing(self) -> Mixing:
        return self.applied.mixing

    @property
    def compressed(self) -> Compressed:
        return self.applied.compressed

    @cached_property
    def _factors(self) -> np.ndarray:
        return ridge_factor(self.compressed.gram, self.lam)

    @cached_property
    def beta(self) -> np.ndarray:
        """Weights of the distilled gradients, f^c(x) = Σ_r β^c_r (A k^c(x))_r: (C, s)."""
        solved = (cho_solve((L, True), b) for L, b in zip(self._factors, self.compressed.targets, strict=True))
        return np.stack([self._lifted(c, w) for c, w in enumerate(solved)])

    @cached_property
    def alpha(self) -> np.ndarray:
        return self.beta @ self.mixing.matrix

    @cached_property
    def left_out(self) -> np.ndarray:
        found = np.empty(self.targets.shape)
        for c, (half, y) in enumerate(zip(self.applied.halves, self.targets.T, strict=True)):
            reads = half if self._sees_all else self.mixing.matrix
            own = np.einsum("si,si->i", self._solve(c, reads), half)
            found[:, c] = (y - self.beta[c] @ half) / (1.0 - own)
        return found

    def smoothing(self, c: int, index: np.ndarray) -> np.ndarray:
        A = self.mixing.matrix
        weights = self._solve(c, A @ self.kernels.cross_rows(c, index).T).T @ A
        return self.kernels.kernel(c).times(np.ascontiguousarray(weights.T)).T if self._sees_all else weights

    @property
    def _sees_all(self) -> bool:
        """Whether β^c = M^c A K^c y_c, of all targets; else β^c = M^c A y_c, of the mixed ones."""
        return self.compressed.basis is not None

    def _solve(self, c: int, v: np.ndarray) -> np.ndarray:
        """M^c v, M^c (s, s) symmetric; v (s, q)."""
        basis = self.compressed.basis
        half = v if basis is None else solve_triangular(basis[c], v, lower=True, check_finite=False)
        return self._lifted(c, cho_solve((self._factors[c], True), half))

    def _lifted(self, c: int, w: np.ndarray) -> np.ndarray:
        """β^c of a solution w."""
        basis = self.compressed.basis
        return w if basis is None else solve_triangular(basis[c], w, trans=1, lower=True, check_finite=False)


Fit = FullFit | FactoredFit | DistilledFit


def fit(
    kernels: ClassKernels,
    targets: np.ndarray,
    lam: float,
    mixing: Mixing | None = None,
    by: str = "paper",
    modes: Sequence[Modes] | None = None,
) -> Fit:
    """Fit targets (m, C) at λ with all gradients or, with a mixing, with the distilled ones; modes may be at hand."""
    if targets.shape != (kernels.shape[2], kernels.shape[0]):
        raise DNTKError(
            f"targets must be {(kernels.shape[2], kernels.shape[0])} to fit the kernels, got {targets.shape}"
        )
    if mixing is not None:
        return DistilledFit(Applied(kernels, targets, mixing, by), lam)
    if modes is None and kernels.dense:
        return FactoredFit(kernels, targets, lam)
    return FullFit(kernels, targets, lam, kernels.modes(targets) if modes is None else modes)
