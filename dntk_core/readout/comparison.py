"""All methods side by side, at the same sizes and the same ridge."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from dntk_core.base.errors import DNTKError
from dntk_core.base.progress import Progress, Report, ignore
from dntk_core.distill import METHODS, Mixing, Source, TooFew
from dntk_core.kernels.ridge import absolute_ridge
from dntk_core.kernels.subspace import SubspaceCoverage, subspace_coverage
from dntk_core.readout.curves import checked
from dntk_core.readout.intervals import paired_interval
from dntk_core.readout.metrics import METRICS
from dntk_core.readout.problem import Problem
from dntk_core.readout.ridge import compress, predictions, solutions
from dntk_core.readout.scores import Scored, judge

# (method, size, ridge, seed) → what the method makes.
Distil = Callable[[str, int, float, int], Mixing]


@dataclass(frozen=True)
class MethodCurve(Scored[np.ndarray]):
    """One method over q sizes, drawn n times (once if it is not random).

    scores:   every metric's (n, q); not a number where the method cannot make so few gradients
    method:   a name in METHODS
    sizes:    (q,)       gradients allowed
    rows:     (n, q)     gradients used; a method may need fewer
    settings: q texts    how Algorithm 1 was set, where it made the rows
    correct:  (n, q, t)  whether each test input's label was chosen
    coverage, reconstruction: (n, q)  as in `SubspaceCoverage`
    """

    method: str
    sizes: np.ndarray
    rows: np.ndarray
    settings: tuple[str, ...]
    correct: np.ndarray
    coverage: np.ndarray
    reconstruction: np.ndarray

    def values(self, name: str) -> np.ndarray:
        """A metric, "rows", "coverage" or "reconstruction": (n, q)."""
        return self[name] if name in self.scores else getattr(self, name)

    def mean(self, name: str) -> np.ndarray:
        """Average over the draws: (q,)."""
        return self.values(name).mean(axis=0)

    def std(self, name: str) -> np.ndarray:
        """Return the standard deviation over the draws: (q,)."""
        return self.values(name).std(axis=0)

    def ahead_of(self, other: "MethodCurve", i: int) -> tuple[float, float, float]:
        """Return by how much this method's accuracy is higher at the i-th size, with its paired 95 % interval."""
        return paired_interval(self.correct[:, i].mean(axis=0), other.correct[:, i].mean(axis=0))


def compare(
    problem: Problem,
    sizes: Sequence[int],
    ridge: float,
    seeds: Sequence[int] = range(5),
    methods: Sequence[str] | None = None,
    distil: Distil | None = None,
    report: Report = ignore,
    by: str = "paper",
) -> tuple[MethodCurve, ...]:
    """Distil by each method, by default all, at each size and, where it is random, with each seed; score everything.

    distil: how, where someone remembers what was distilled
    """
    methods = tuple(METHODS) if methods is None else methods
    unknown = [name for name in methods if name not in METHODS]
    if unknown or len(seeds) == 0:
        raise DNTKError(f"expected seeds and methods among {', '.join(METHODS)}; got {len(seeds)} seeds and {unknown}")
    s = checked("sizes", sizes, len(problem.targets))
    source = Source(problem.kernels, problem.targets, problem.classes)
    distil = distil or (lambda name, size, ridge, seed: METHODS[name].distil(source, size, ridge, seed))
    curves = []
    for done, name in enumerate(methods):
        report(Progress("compare", done, len(methods), name))
        curves.append(method_curve(problem, distil, name, s, ridge, seeds, by))
    report(Progress("compare", len(methods), len(methods)))
    return tuple(curves)


def method_curve(
    problem: Problem,
    distil: Distil,
    name: str,
    sizes: np.ndarray,
    ridge: float,
    seeds: Sequence[int],
    by: str = "paper",
) -> MethodCurve:
    """Score one method over sizes (q,); a nested one is distilled once per seed."""
    method = METHODS[name]
    draws = seeds if method.random else seeds[:1]
    n, q, t = len(draws), len(sizes), len(problem.labels)
    scores = {metric: np.full((n, q), np.nan) for metric in METRICS}
    rows, coverage, reconstruction = np.full((n, q), np.nan), np.full((n, q), np.nan), np.full((n, q), np.nan)
    correct, settings = np.zeros((n, q, t), dtype=bool), [""] * q
    for draw, seed in enumerate(draws):
        for mixing, place in _made(distil, name, sizes, ridge, seed):
            used = np.minimum(sizes[place], mixing.size)
            found = _scored(problem, mixing, used, ridge, by)
            rows[draw, place] = used
            coverage[draw, place], reconstruction[draw, place] = found[1].coverage, found[1].reconstruction
            correct[draw, place] = found[2]
            for metric, values in found[0].items():
                scores[metric][draw, place] = values
            for i in place:
                settings[i] = mixing.description
    return MethodCurve(scores, name, sizes, rows, tuple(settings), correct, coverage, reconstruction)


def _made(distil: Distil, name: str, sizes: np.ndarray, ridge: float, seed: int) -> list[tuple[Mixing, np.ndarray]]:
    """The mixings of one draw, and which of the sizes each serves."""
    every = np.arange(len(sizes))
    if METHODS[name].nested:
        return [(distil(name, int(sizes.max()), ridge, seed), every)]
    made = []
    for i in every:
        try:
            made.append((distil(name, int(sizes[i]), ridge, seed), np.array([i])))
        except TooFew:
            # The curve has a gap here, as the method has.
            continue
    return made


def _scored(
    problem: Problem, mixing: Mixing, sizes: np.ndarray, ridge: float, by: str
) -> tuple[dict[str, np.ndarray], SubspaceCoverage, np.ndarray]:
    """Scores, coverage and correct choices of the first rows of a mixing, for all sizes (q,)."""
    kernels = problem.kernels
    compressed = compress(kernels, problem.targets, mixing, by)
    solved = solutions(compressed, absolute_ridge(kernels, ridge), sizes)
    judged = judge(problem, predictions(kernels, compressed, solved))
    scores = {name: metric.function(judged) for name, metric in METRICS.items()}
    covered = subspace_coverage([kernels.kernel(c) for c in range(kernels.shape[0])], mixing.matrix, sizes)
    return scores, covered, judged.choice.T == problem.labels


def comparison_table(curves: Sequence[MethodCurve]) -> str:
    """Write a comparison as a Markdown table: every score per method and size, and how Algorithm 1 was set.

    A number of gradients in brackets says that the method used fewer than it was allowed; a dash, that it cannot make
    so few.
    """
    sizes = curves[0].sizes
    lines = ["| method | " + " | ".join(f"s = {s}" for s in sizes) + " |", "|---" * (len(sizes) + 1) + "|"]
    for curve in curves:
        cells = [_cell(curve, i) for i in range(len(sizes))]
        lines.append(f"| {curve.method} | " + " | ".join(cells) + " |")
    notes = [
        f"- {curve.method}, s = {size}: {setting}"
        for curve in curves
        for size, setting in zip(sizes, curve.settings, strict=True)
        if setting
    ]
    return "\n".join([*lines, *([""] if notes else []), *notes])


def _cell(curve: MethodCurve, i: int) -> str:
    used = curve.mean("rows")[i]
    if np.isnan(used):
        return "–"
    values = " / ".join(f"{curve.mean(name)[i]:{metric.format}}" for name, metric in METRICS.items())
    return values + (f" ({used:g})" if used < curve.sizes[i] else "")
