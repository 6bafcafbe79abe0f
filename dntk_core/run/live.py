"""The object a dashboard keeps per run: slider positions in, results out, what no slider changes remembered."""

from collections.abc import Sequence

import numpy as np

from dntk_core.base.errors import DNTKError
from dntk_core.base.progress import Progress, Report, ignore
from dntk_core.base.threads import one_blas_thread
from dntk_core.distill import METHODS, Mixing, Source, TooFew
from dntk_core.distill.local_global import local_global_of
from dntk_core.readout.bounds import ErrorBudget, error_budget
from dntk_core.readout.comparison import MethodCurve, compare
from dntk_core.readout.compressed import Compressed
from dntk_core.readout.conditioning import conditioning_of
from dntk_core.readout.curves import (
    Curve,
    compressed_ridge_curve,
    full_ridge_curve,
    prefix_curve,
    rank_curve,
    separate_curve,
)
from dntk_core.readout.grid import Grid, Layer, check_axes, grid_of_layers, layer_of
from dntk_core.readout.leave_one_out import LeaveOneOut, leave_one_out
from dntk_core.readout.ridge import evaluate_compressed
from dntk_core.readout.scores import Scores, only
from dntk_core.run.decomposed import Decomposed
from dntk_core.run.rotating import applied


class Live(Decomposed):
    """A problem with its eigendecompositions, clusterings and mixings at hand; safe to share between threads.

    `c` is a class 0..C-1, or None for the mean kernel K̄; `by` a readout of READOUTS, `energy` one of ENERGIES. Results
    are shared: treat them as read-only. All that is derived from a run is remembered, in one bounded memory.
    """

    # Algorithm 1.

    def local_global(
        self, H: int, tau_v: float, tau_g: float, rule: str = "ratio", energy: str = "gradients"
    ) -> Mixing:
        """Distil the mean kernel by Algorithm 1."""
        key = ("local-global", H, tau_v, tau_g, rule, energy)
        return self.remember(key, lambda: local_global_of(self.decomposition(H).by(energy), tau_v, tau_g, rule))

    def grid(
        self,
        H: Sequence[int],
        tau_v: Sequence[float],
        tau_g: Sequence[float],
        ridge: float,
        rule: str = "ratio",
        report: Report = ignore,
        by: str = "paper",
        energy: str = "gradients",
    ) -> Grid:
        """Search Algorithm 1's settings."""

        def layer(h: int) -> Layer:
            # No ridge changes it.
            return self.remember(
                ("layer", h, tuple(tau_v), tuple(tau_g), rule, by, energy),
                lambda: layer_of(self.problem, self.decomposition(h).by(energy), tau_v, tau_g, rule, by),
            )

        def search() -> Grid:
            check_axes(H, tau_v, tau_g)
            return grid_of_layers(self.problem, H, map(layer, H), tau_v, tau_g, ridge, report)

        return self.remember(("grid", tuple(H), tuple(tau_v), tuple(tau_g), ridge, rule, by, energy), search)

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
        return self.remember(("compressed", mixing, by), lambda: applied(self, mixing, by))

    def scores(self, mixing: Mixing | None, ridge: float, by: str = "paper") -> Scores:
        """Score the readout on any mixing; None is the full readout, which no slider but the ridge changes."""
        if mixing is None:
            return self.remember(("full", ridge), lambda: self.rank_scores(len(self.problem.targets), ridge))
        with one_blas_thread:
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
            return compare(self.problem, sizes, ridge, seeds, (method,), self.distil, by=by)[0]

        curves = []
        for done, method in enumerate(methods):
            report(Progress("compare", done, len(methods), method))
            key = ("compare", method, tuple(sizes), ridge, tuple(seeds), by)
            curves.append(self.remember(key, lambda method=method: one(method)))
        report(Progress("compare", len(methods), len(methods)))
        return tuple(curves)

    def conditioning(self, mixing: Mixing, ridge: float, by: str = "paper") -> tuple[np.ndarray, np.ndarray]:
        """Return condition number and smallest eigenvalue of each class's solved matrix: two (C,)."""
        with one_blas_thread:
            return conditioning_of(self.compressed(mixing, by).ends, self.lam(ridge))

    def error_budget(self, ridge: float) -> ErrorBudget:
        """Evaluate the paper's error terms for the full readout."""
        return self.remember(("budget", ridge), lambda: error_budget(self.problem, ridge, self.modes()))

    def leave_one_out(self, ridges: Sequence[float]) -> LeaveOneOut:
        """Judge the full readout without test data, over ridges (q,)."""
        own = self.problem
        return self.remember(
            ("leave one out", tuple(ridges)),
            lambda: leave_one_out(own.kernels, own.targets, ridges, self.modes(), own.classes),
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
