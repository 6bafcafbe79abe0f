"""The object a dashboard keeps per run: slider positions in, results out, what no slider changes remembered."""

from collections.abc import Sequence

import numpy as np

from dntk_core.base.errors import DNTKError
from dntk_core.base.memo import Memo
from dntk_core.base.progress import Report, ignore
from dntk_core.distill import METHODS, Mixing, Source
from dntk_core.distill.local_global import local_global_of
from dntk_core.kernels.clusters import Embedding, cluster_embedding, embed
from dntk_core.kernels.decomposition import Decomposition, decompose
from dntk_core.kernels.ridge import absolute_ridge
from dntk_core.kernels.spectrum import Spectrum, spectrum
from dntk_core.kernels.structure import Containment, Coverage, containment_of, coverage_of
from dntk_core.readout.bounds import ErrorBudget, error_budget
from dntk_core.readout.comparison import MethodCurve, compare
from dntk_core.readout.conditioning import conditioning
from dntk_core.readout.curves import Curve, prefix_curve, rank_curve, ridge_curve, separate_curve
from dntk_core.readout.grid import Grid, grid_of
from dntk_core.readout.ridge import Compressed, Problem, Scores, compress, evaluate, evaluate_compressed


class Live:
    """A problem with its eigendecompositions, clusterings and mixings at hand; safe to share between threads.

    `c` is a class 0..C-1, or None for the mean kernel K̄. Results are shared: treat them as read-only.
    """

    def __init__(self, problem: Problem, seed: int = 0, limit: int = 2**29):
        """Wrap a problem; clusterings and random methods use the seed, the memory is bounded to `limit` bytes."""
        self.problem = problem
        self.seed = seed
        self._source = Source(problem.kernels, problem.targets)
        self._memo = Memo(limit)

    def kernel(self, c: int | None = None) -> np.ndarray:
        """Return K̄ or K^c: (m, m)."""
        kernels = self.problem.kernels
        if c is None:
            return kernels.mean
        if not 0 <= c < len(kernels.train):
            raise DNTKError(f"the class must lie in 0..{len(kernels.train) - 1}, got {c}")
        return kernels.train[c]

    def lam(self, ridge: float) -> float:
        """Return λ, the absolute ridge."""
        return absolute_ridge(self.problem.kernels, ridge)

    # What sliders start from.

    def spectrum(self, c: int | None = None) -> Spectrum:
        """Decompose K̄ or K^c."""
        if c is None:
            return self._source.whole
        return self._memo.get(("spectrum", c), lambda: spectrum(self.kernel(c)))

    def spectra(self) -> tuple[Spectrum, ...]:
        """Decompose every class kernel."""
        return tuple(self.spectrum(c) for c in range(len(self.problem.kernels.train)))

    def embedding(self, c: int | None = None) -> Embedding:
        """Embed the inputs for clustering."""
        return self._memo.get(("embedding", c), lambda: embed(self.kernel(c), whole=self.spectrum(c)))

    def decomposition(self, H: int, c: int | None = None) -> Decomposition:
        """Cluster the inputs and decompose the kernel within each cluster."""
        return self._memo.get(
            ("decomposition", H, c),
            lambda: decompose(self.kernel(c), cluster_embedding(self.embedding(c), H, self.seed), self.spectrum(c)),
        )

    def labels(self, H: int, c: int | None = None) -> np.ndarray:
        """Return the cluster of each input: (m,)."""
        return self.decomposition(H, c).labels

    # Properties (A) and (B).

    def containment(self, H: int, epsilon: float, c: int | None = None) -> Containment:
        """Measure property (A)."""
        return containment_of(self.decomposition(H, c), epsilon)

    def coverage(self, H: int, epsilon: float, c: int | None = None) -> Coverage:
        """Measure property (B)."""
        return coverage_of(self.decomposition(H, c), epsilon)

    # Algorithm 1.

    def local_global(self, H: int, tau_v: float, tau_g: float, rule: str = "ratio") -> Mixing:
        """Distil the mean kernel by Algorithm 1."""
        return self._memo.get(
            ("local-global", H, tau_v, tau_g, rule),
            lambda: local_global_of(self.decomposition(H), tau_v, tau_g, rule),
        )

    def local_global_scores(self, H: int, tau_v: float, tau_g: float, ridge: float, rule: str = "ratio") -> Scores:
        """Score the readout on Algorithm 1's gradients."""

        def compressed() -> Compressed:
            mixing = self.local_global(H, tau_v, tau_g, rule)
            return compress(self.problem.kernels, self.problem.targets, mixing)

        at_hand = self._memo.get(("compressed", H, tau_v, tau_g, rule), compressed)
        return evaluate_compressed(self.problem, at_hand, ridge)

    def grid(
        self,
        H: Sequence[int],
        tau_v: Sequence[float],
        tau_g: Sequence[float],
        ridge: float,
        rule: str = "ratio",
        report: Report = ignore,
    ) -> Grid:
        """Search Algorithm 1's settings."""
        return grid_of(self.problem, [self.decomposition(h) for h in H], tau_v, tau_g, ridge, rule, report)

    # Any method.

    def distil(self, method: str, size: int, ridge: float, seed: int | None = None) -> Mixing:
        """Distil by a method of METHODS into at most `size` gradients."""
        if method not in METHODS:
            raise DNTKError(f"the method must be one of {', '.join(METHODS)}, got {method!r}")
        key = self._key(method, size, ridge, seed)
        return self._memo.get(("method", *key), lambda: METHODS[method].distil(self._source, size, ridge, key[-1]))

    def _compressed(self, method: str, size: int, ridge: float, seed: int | None) -> Compressed:
        mixing = self.distil(method, size, ridge, seed)
        key = self._key(method, size, ridge, seed)
        return self._memo.get(("applied", *key), lambda: compress(self.problem.kernels, self.problem.targets, mixing))

    def _key(self, method: str, size: int, ridge: float, seed: int | None) -> tuple:
        """All that a mixing depends on."""
        used = ridge if METHODS[method].uses_ridge else None
        return method, size, used, self.seed if seed is None else seed

    def scores(self, mixing: Mixing | None, ridge: float) -> Scores:
        """Score the readout on any mixing; None is the full readout."""
        if mixing is None:
            return self.rank_scores(len(self.problem.targets), ridge)
        return evaluate(self.problem, mixing, ridge)

    def compare(
        self,
        sizes: Sequence[int],
        ridge: float,
        seeds: Sequence[int] = range(5),
        methods: Sequence[str] = tuple(METHODS),
        report: Report = ignore,
    ) -> tuple[MethodCurve, ...]:
        """Compare methods over sizes."""
        return compare(self.problem, sizes, ridge, seeds, methods, self._source, report)

    def conditioning(self, mixing: Mixing | None, ridge: float) -> tuple[np.ndarray, np.ndarray]:
        """Return condition number and smallest eigenvalue of each class's solved matrix A K^c Aᵀ + λI: two (C,)."""
        gram = compress(self.problem.kernels, self.problem.targets, mixing).gram
        return conditioning(gram, self.lam(ridge))

    def error_budget(self, ridge: float) -> ErrorBudget:
        """Evaluate the paper's error terms for the full readout."""
        return error_budget(self.problem, ridge, self.spectra() if self.problem.kernels.dense else None)

    # Curves.

    def size_curve(self, method: str, sizes: Sequence[int], ridge: float, seed: int | None = None) -> Curve:
        """Score a method over sizes (q,); one that is not nested is distilled for each, and x is what it makes."""
        if method in METHODS and METHODS[method].nested:
            return prefix_curve(self.problem, self._compressed(method, int(max(sizes)), ridge, seed), sizes, ridge)
        made = [self._compressed(method, int(size), ridge, seed) for size in sizes]
        # Several budgets may end in the same number of gradients.
        each = {len(compressed.matrix): compressed for compressed in made}
        return separate_curve(self.problem, [each[size] for size in sorted(each)], ridge)

    def rank_curve(self, ranks: Sequence[int], ridge: float) -> Curve:
        """Score rank-r kernels over ranks (q,)."""
        return rank_curve(self.problem, ranks, ridge, self.spectra() if self.problem.kernels.dense else None)

    def rank_scores(self, rank: int, ridge: float) -> Scores:
        """Score the rank-r kernels."""
        curve = self.rank_curve([rank], ridge)
        return Scores(float(curve.accuracy[0]), float(curve.fidelity[0]), float(curve.mse[0]))

    def ridge_curve(self, mixing: Mixing | None, ridges: Sequence[float]) -> Curve:
        """Score one mixing over ridges (q,)."""
        return ridge_curve(self.problem, mixing, ridges)
