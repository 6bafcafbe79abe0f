"""The object a dashboard keeps per run: slider positions in, results out, what no slider changes remembered."""

from collections.abc import Callable, Hashable, Sequence
from typing import TypeVar

import numpy as np

from dntk_core.base.errors import DNTKError
from dntk_core.base.memo import Memo
from dntk_core.base.progress import Progress, Report, ignore
from dntk_core.distill import METHODS, Mixing, Source, TooFew
from dntk_core.distill.local_global import local_global_of
from dntk_core.kernels.clusters import Embedding, cluster_embedding, embed
from dntk_core.kernels.decomposition import Decomposition, decompose, permuted
from dntk_core.kernels.kernel import Kernel
from dntk_core.kernels.modes import Modes
from dntk_core.kernels.ridge import absolute_ridge
from dntk_core.kernels.spectrum import Spectrum, spectrum
from dntk_core.kernels.structure import Containment, Coverage, containment_of, coverage_of
from dntk_core.readout.bounds import ErrorBudget, error_budget
from dntk_core.readout.comparison import MethodCurve, compare
from dntk_core.readout.conditioning import conditioning
from dntk_core.readout.curves import (
    Curve,
    compressed_ridge_curve,
    full_ridge_curve,
    prefix_curve,
    rank_curve,
    separate_curve,
)
from dntk_core.readout.grid import Grid, grid_of
from dntk_core.readout.leave_one_out import LeaveOneOut, leave_one_out
from dntk_core.readout.problem import Problem
from dntk_core.readout.ridge import Compressed, compress, evaluate_compressed
from dntk_core.readout.scores import Scores, only

# Random clusterings that the null model of properties (A) and (B) is drawn from.
PERMUTATIONS = 5

Value = TypeVar("Value")


class Live:
    """A problem with its eigendecompositions, clusterings and mixings at hand; safe to share between threads.

    `c` is a class 0..C-1, or None for the mean kernel K̄; `by` a readout of READOUTS. Results are shared: treat them as
    read-only. All that is derived from a run is remembered here, in one memory of bounded size.
    """

    def __init__(self, problem: Problem, seed: int = 0, limit: int = 2**29):
        """Wrap a problem; clusterings and random methods use the seed, the memory is bounded to `limit` bytes."""
        self.problem = problem
        self.seed = seed
        self._memo = Memo(limit)

    def remember(self, key: Hashable, compute: Callable[[], Value]) -> Value:
        """Return the value of a key, computing it if it is not remembered."""
        return self._memo.get(key, compute)

    def kernel(self, c: int | None = None) -> Kernel:
        """Return K̄ or K^c."""
        return self.problem.kernels.kernel(c)

    def lam(self, ridge: float) -> float:
        """Return λ, the absolute ridge."""
        return absolute_ridge(self.problem.kernels, ridge)

    # What sliders start from.

    def spectrum(self, c: int | None = None) -> Spectrum:
        """Decompose K̄ or K^c."""
        return self.remember(("spectrum", c), lambda: spectrum(self.kernel(c)))

    def spectra(self) -> tuple[Spectrum, ...]:
        """Decompose every class kernel."""
        return tuple(self.spectrum(c) for c in range(self.problem.kernels.shape[0]))

    def modes(self) -> tuple[Modes, ...]:
        """The full readout in the eigenvectors of every class kernel."""
        return self.remember(("modes",), lambda: self.problem.kernels.modes(self.problem.targets, self.spectrum))

    def embedding(self, c: int | None = None) -> Embedding:
        """Embed the inputs for clustering."""
        return self.remember(("embedding", c), lambda: embed(self.kernel(c)))

    def decomposition(self, H: int, c: int | None = None) -> Decomposition:
        """Cluster the inputs and decompose the kernel within each cluster."""
        return self.remember(
            ("decomposition", H, c),
            lambda: decompose(self.kernel(c), cluster_embedding(self.embedding(c), H, self.seed), self.spectrum(c)),
        )

    def labels(self, H: int, c: int | None = None) -> np.ndarray:
        """Return the cluster of each input: (m,)."""
        return self.decomposition(H, c).labels

    # Properties (A) and (B), and the same for random clusters of the same sizes.

    def containment(self, H: int, epsilon: float, c: int | None = None) -> Containment:
        """Measure property (A)."""
        return self.remember(("containment", H, epsilon, c), lambda: containment_of(self.decomposition(H, c), epsilon))

    def coverage(self, H: int, epsilon: float, c: int | None = None) -> Coverage:
        """Measure property (B)."""
        return self.remember(("coverage", H, epsilon, c), lambda: coverage_of(self.decomposition(H, c), epsilon))

    def random_containments(self, H: int, epsilon: float, c: int | None = None) -> tuple[Containment, ...]:
        """Measure property (A) for PERMUTATIONS random clusterings: what any clusters of these sizes give."""
        return self.remember(
            ("random containments", H, epsilon, c),
            lambda: tuple(containment_of(parts, epsilon) for parts in self._permuted(H, c)),
        )

    def random_coverages(self, H: int, epsilon: float, c: int | None = None) -> tuple[Coverage, ...]:
        """Measure property (B) for PERMUTATIONS random clusterings."""
        return self.remember(
            ("random coverages", H, epsilon, c),
            lambda: tuple(coverage_of(parts, epsilon) for parts in self._permuted(H, c)),
        )

    def _permuted(self, H: int, c: int | None) -> tuple[Decomposition, ...]:
        labels, known = self.labels(H, c), self.spectrum(c)
        return self.remember(
            ("permuted", H, c), lambda: tuple(permuted(self.kernel(c), labels, known, PERMUTATIONS, self.seed))
        )

    # Algorithm 1.

    def local_global(self, H: int, tau_v: float, tau_g: float, rule: str = "ratio") -> Mixing:
        """Distil the mean kernel by Algorithm 1."""
        return self.remember(
            ("local-global", H, tau_v, tau_g, rule),
            lambda: local_global_of(self.decomposition(H), tau_v, tau_g, rule),
        )

    def grid(
        self,
        H: Sequence[int],
        tau_v: Sequence[float],
        tau_g: Sequence[float],
        ridge: float,
        rule: str = "ratio",
        report: Report = ignore,
        by: str = "paper",
    ) -> Grid:
        """Search Algorithm 1's settings."""

        def search() -> Grid:
            return grid_of(self.problem, [self.decomposition(h) for h in H], tau_v, tau_g, ridge, rule, report, by)

        return self.remember(("grid", tuple(H), tuple(tau_v), tuple(tau_g), ridge, rule, by), search)

    # Any method.

    @property
    def _source(self) -> Source:
        problem = self.problem
        return Source(problem.kernels, problem.targets, problem.classes, self.remember)

    def distil(self, method: str, size: int, ridge: float, seed: int | None = None) -> Mixing:
        """Distil by a method of METHODS into at most `size` gradients."""
        if method not in METHODS:
            raise DNTKError(f"the method must be one of {', '.join(METHODS)}, got {method!r}")
        used, seed = ridge if METHODS[method].uses_ridge else None, self.seed if seed is None else seed
        return self.remember(
            ("method", method, size, used, seed), lambda: METHODS[method].distil(self._source, size, ridge, seed)
        )

    def compressed(self, mixing: Mixing, by: str = "paper") -> Compressed:
        """Apply a mixing to the problem; one of this object's own is applied once, whatever the ridge."""
        return self.remember(
            ("compressed", mixing, by), lambda: compress(self.problem.kernels, self.problem.targets, mixing, by)
        )

    def scores(self, mixing: Mixing | None, ridge: float, by: str = "paper") -> Scores:
        """Score the readout on any mixing; None is the full readout, which no slider but the ridge changes."""
        if mixing is None:
            return self.remember(("full", ridge), lambda: self.rank_scores(len(self.problem.targets), ridge))
        return evaluate_compressed(self.problem, self.compressed(mixing, by), ridge)

    def compare(
        self,
        sizes: Sequence[int],
        ridge: float,
        seeds: Sequence[int] = range(5),
        methods: Sequence[str] | None = None,
        report: Report = ignore,
        by: str = "paper",
    ) -> tuple[MethodCurve, ...]:
        """Compare methods, by default all, over sizes; each is remembered by itself."""
        methods = tuple(METHODS) if methods is None else methods

        def one(method: str) -> MethodCurve:
            return compare(self.problem, sizes, ridge, seeds, (method,), self._source, by=by)[0]

        curves = []
        for done, method in enumerate(methods):
            report(Progress("compare", done, len(methods), method))
            key = ("compare", method, tuple(sizes), ridge, tuple(seeds), by)
            curves.append(self.remember(key, lambda method=method: one(method)))
        report(Progress("compare", len(methods), len(methods)))
        return tuple(curves)

    def conditioning(self, mixing: Mixing, ridge: float, by: str = "paper") -> tuple[np.ndarray, np.ndarray]:
        """Return condition number and smallest eigenvalue of each class's solved matrix: two (C,)."""
        return conditioning(self.compressed(mixing, by).gram, self.lam(ridge))

    def error_budget(self, ridge: float) -> ErrorBudget:
        """Evaluate the paper's error terms for the full readout."""
        return self.remember(("budget", ridge), lambda: error_budget(self.problem, ridge, self.modes()))

    def leave_one_out(self, ridges: Sequence[float]) -> LeaveOneOut:
        """Judge the full readout without test data, over ridges (q,)."""
        kernels, targets = self.problem.kernels, self.problem.targets
        return self.remember(
            ("leave one out", tuple(ridges)), lambda: leave_one_out(kernels, targets, ridges, self.modes())
        )

    # Curves.

    def size_curve(
        self, method: str, sizes: Sequence[int], ridge: float, seed: int | None = None, by: str = "paper"
    ) -> Curve:
        """Score a method over sizes (q,); one that is not nested is distilled for each, and x is what it makes."""

        def curve() -> Curve:
            if method in METHODS and METHODS[method].nested:
                made = self.distil(method, int(max(sizes)), ridge, seed)
                # Of many inputs a method may know fewer rows than are asked for.
                known = [size for size in sizes if size <= made.size]
                return prefix_curve(self.problem, self.compressed(made, by), known, ridge)
            each = self.of_sizes(method, sizes, ridge, seed)
            return separate_curve(self.problem, [self.compressed(each[size], by) for size in sorted(each)], ridge)

        return self.remember(("sizes", method, tuple(sizes), ridge, seed, by), curve)

    def of_sizes(self, method: str, sizes: Sequence[int], ridge: float, seed: int | None = None) -> dict[int, Mixing]:
        """What a method makes of each budget, by size: several may end in the same, some be too small for it."""
        made: dict[int, Mixing] = {}
        for size in sizes:
            try:
                mixing = self.distil(method, int(size), ridge, seed)
            except TooFew:
                if size == max(sizes):
                    raise
                continue
            made[mixing.size] = mixing
        return made

    def rank_curve(self, ranks: Sequence[int], ridge: float) -> Curve:
        """Score rank-r kernels over ranks (q,)."""
        return self.remember(
            ("ranks", tuple(ranks), ridge), lambda: rank_curve(self.problem, ranks, ridge, self.modes())
        )

    def rank_scores(self, rank: int, ridge: float) -> Scores:
        """Score the rank-r kernels."""
        return only(self.rank_curve([rank], ridge).scores)

    def ridge_curve(self, mixing: Mixing | None, ridges: Sequence[float], by: str = "paper") -> Curve:
        """Score one mixing, or the full readout, over ridges (q,)."""
        if mixing is None:
            return self.remember(
                ("full ridges", tuple(ridges)), lambda: full_ridge_curve(self.problem, ridges, self.modes())
            )
        return self.remember(
            ("ridges", mixing, tuple(ridges), by),
            lambda: compressed_ridge_curve(self.problem, self.compressed(mixing, by), ridges),
        )
