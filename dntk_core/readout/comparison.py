"""All methods side by side, at the same sizes and the same ridge."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dntk_core.base.errors import DNTKError
from dntk_core.base.progress import Progress, Report, ignore
from dntk_core.distill import METHODS, Source
from dntk_core.kernels.ridge import absolute_ridge
from dntk_core.kernels.subspace import subspace_coverage
from dntk_core.readout.curves import checked
from dntk_core.readout.ridge import Problem, coefficients, compress, score_coefficients


@dataclass(frozen=True)
class MethodCurve:
    """One method over q sizes, drawn n times (once if it is not random).

    method: a name in METHODS
    sizes:  (q,)    gradients allowed
    rows:   (n, q)  gradients used; a method may need fewer
    accuracy, fidelity, mse, coverage, reconstruction: (n, q)
            coverage and reconstruction as in `SubspaceCoverage`
    """

    method: str
    sizes: np.ndarray
    rows: np.ndarray
    accuracy: np.ndarray
    fidelity: np.ndarray
    mse: np.ndarray
    coverage: np.ndarray
    reconstruction: np.ndarray

    def mean(self, metric: str) -> np.ndarray:
        """Average a metric over the draws: (q,)."""
        return getattr(self, metric).mean(axis=0)

    def std(self, metric: str) -> np.ndarray:
        """Return a metric's standard deviation over the draws: (q,)."""
        return getattr(self, metric).std(axis=0)


def compare(
    problem: Problem,
    sizes: Sequence[int],
    ridge: float,
    seeds: Sequence[int] = range(5),
    methods: Sequence[str] = tuple(METHODS),
    source: Source | None = None,
    report: Report = ignore,
) -> tuple[MethodCurve, ...]:
    """Distil by each method, at each size and, where it is random, with each seed; score everything."""
    unknown = [name for name in methods if name not in METHODS]
    if unknown or len(seeds) == 0:
        raise DNTKError(f"expected seeds and methods among {', '.join(METHODS)}; got {len(seeds)} seeds and {unknown}")
    sizes = checked("sizes", sizes, len(problem.targets))
    source = Source(problem.kernels, problem.targets) if source is None else source
    curves = []
    for done, name in enumerate(methods):
        report(Progress("compare", done, len(methods), name))
        curves.append(method_curve(problem, source, name, sizes, ridge, seeds))
    report(Progress("compare", len(methods), len(methods)))
    return tuple(curves)


def method_curve(
    problem: Problem, source: Source, name: str, sizes: np.ndarray, ridge: float, seeds: Sequence[int]
) -> MethodCurve:
    """Score one method over sizes (q,); a nested one is distilled once per seed."""
    method = METHODS[name]
    lam = absolute_ridge(problem.kernels, ridge)
    rows, alphas, coverages = [], [], []
    for seed in seeds if method.random else seeds[:1]:
        if method.nested:
            runs = [(method.distil(source, int(sizes.max()), ridge, seed), sizes)]
        else:
            runs = [(method.distil(source, int(size), ridge, seed), np.array([size])) for size in sizes]
        for mixing, wanted in runs:
            rows.append(np.minimum(wanted, mixing.size))
            alphas.append(coefficients(compress(problem.kernels, problem.targets, mixing), lam, rows[-1]))
            coverages.append(subspace_coverage(problem.kernels.train, mixing.matrix, rows[-1]))
    scores = score_coefficients(problem, np.concatenate(alphas, axis=2))
    covered = [np.concatenate([getattr(each, field) for each in coverages]) for field in ("coverage", "reconstruction")]
    table = [values.reshape(-1, len(sizes)) for values in (np.concatenate(rows), *scores, *covered)]
    return MethodCurve(name, sizes, *table)


def comparison_table(curves: Sequence[MethodCurve]) -> str:
    """Write a comparison as a Markdown table: accuracy / fidelity / MSE per method and size.

    A number of gradients in brackets says that the method used fewer than it was allowed.
    """
    sizes = curves[0].sizes
    lines = ["| method | " + " | ".join(f"s = {s}" for s in sizes) + " |", "|---" * (len(sizes) + 1) + "|"]
    for curve in curves:
        cells = []
        for i, size in enumerate(sizes):
            accuracy, fidelity, mse = (curve.mean(metric)[i] for metric in ("accuracy", "fidelity", "mse"))
            used = curve.mean("rows")[i]
            cells.append(f"{accuracy:.3f} / {fidelity:.3f} / {mse:.3g}" + (f" ({used:g})" if used < size else ""))
        lines.append(f"| {curve.method} | " + " | ".join(cells) + " |")
    return "\n".join(lines)
