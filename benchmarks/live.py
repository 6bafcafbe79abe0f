"""Time one change of each slider, a size curve and a grid against solving every point on its own.

    python -m benchmarks.live [--pages]

Sliders are timed by the very calls that pages make (`Distillation.scores`, which also gives the full readout beside the
distilled one). With --pages, the panels of every page of the embedded run are timed too, figures included, for one move
of each of their sliders.

Kernels are synthetic, of the size of the paper's: m = 500 inputs, C = 10 classes, t = 3925 test inputs, with
clustered features and truncation ranks as in the paper (31 to 41 at 5 %). Both sides of a ratio are measured
alternately in this one run, and must give the same scores. Limits are for quiet cores, so they are held against
processor time, which other programs do not lengthen; with one BLAS thread it is what a quiet core's clock would show.
The wall clock is printed beside it. Exits with 1 if a limit is missed.
"""

import os

# One BLAS thread, as in the dashboard: threads of several sessions would only fight for the cores.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse
import sys
from collections.abc import Callable
from time import perf_counter, process_time

import numpy as np

from dntk_core.distill.local_global import local_global, local_global_of
from dntk_core.distill.mixing import selection
from dntk_core.kernels.class_kernels import kernels_from_features
from dntk_core.kernels.clusters import spectral_clusters
from dntk_core.kernels.ridge import absolute_ridge
from dntk_core.kernels.spectrum import spectrum
from dntk_core.readout.conditioning import conditioning
from dntk_core.readout.curves import size_curve
from dntk_core.readout.grid import grid_of
from dntk_core.readout.problem import Problem
from dntk_core.readout.ridge import compress, evaluate
from dntk_core.readout.scores import Scores, only, score
from dntk_core.run.distillation import Distillation
from dntk_core.run.live import Live

RIDGE = 1e-4


def synthetic_problem(C: int = 10, m: int = 500, t: int = 3925, k: int = 400, seed: int = 0) -> Problem:
    """Draw features in C clusters, decaying so that the truncation ranks are the paper's, and nearly linear logits."""
    generator = np.random.default_rng(seed)
    decay = np.exp(-np.arange(k) / 32)
    centres = generator.standard_normal((C, k)) * decay
    per_class = 1.0 + 0.3 * generator.standard_normal((C, 1, k))
    weights = np.stack([(centres[c] - centres.mean(axis=0)) / per_class[c, 0] for c in range(C)])

    def draw(count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        labels = generator.integers(C, size=count)
        features = (centres[labels] + generator.standard_normal((count, k)) * decay) * per_class
        linear = np.einsum("cik,ck->ic", features, weights)
        return features, linear + 0.1 * np.sin(linear), labels

    train, targets, _ = draw(m)
    test, logits, labels = draw(t)
    return Problem(kernels_from_features(train, test), targets, logits, labels)


def timed(call: Callable) -> tuple[tuple[float, float], object]:
    """Return processor and wall clock seconds, and the result, of one call."""
    start = process_time(), perf_counter()
    result = call()
    return (process_time() - start[0], perf_counter() - start[1]), result


def same(left: Scores, right: Scores) -> bool:
    """Compare scores: decisions exactly, MSE to rounding."""
    return (left.accuracy, left.fidelity) == (right.accuracy, right.fidelity) and np.isclose(left.mse, right.mse)


def line(name: str, fast: list, slow: list, limit: float, ratio: float, equal: bool) -> bool:
    """Print one measurement and say whether it keeps its limits."""
    median, wall = np.median(fast, axis=0) * 1e3
    p95, wall95 = np.percentile(fast, 95, axis=0) * 1e3
    gained = np.median(slow, axis=0)[0] * 1e3 / median
    passed = bool(p95 <= limit and gained >= ratio and equal)
    print(
        f"{name:10} {median:8.1f} {p95:8.1f} {limit:8.0f}   {wall:8.1f} {wall95:8.1f}   {gained:6.1f}x {ratio:7.0f}x"
        f"   {'same' if equal else 'DIFFERENT':9} {'ok' if passed else 'MISSED'}",
        flush=True,
    )
    return passed


def slider(name: str, limit: float, moves: list[tuple[Callable[[], Scores], Callable[[], Scores]]]) -> bool:
    """Time moves of one slider against the same answer from the kernels alone."""
    fast, slow, equal = [], [], True
    for move, alone in moves:
        (quick, result), (long, reference) = timed(move), timed(alone)
        fast.append(quick)
        slow.append(long)
        equal &= same(result, reference)
    return line(name, fast, slow, limit, 1, equal)


def sliders(problem: Problem, live: Live) -> list[bool]:
    """Time single changes of τ_v, τ_g, ridge, rank and H, each to a place not visited before."""
    K = problem.kernels.mean

    def alone(H, tau_v, tau_g, ridge):
        mixing = local_global(K, spectral_clusters(K, H, live.seed), tau_v, tau_g, "union")
        return evaluate(problem, mixing, ridge)

    def rank_alone(rank):
        lam, alpha = absolute_ridge(problem.kernels, RIDGE), []
        for kernel, y in zip(problem.kernels.train, problem.targets.T, strict=True):
            U = spectrum(kernel)
            alpha.append(U.vectors[:, :rank] @ (U.vectors[:, :rank].T @ y / (U.values[:rank] + lam)))
        predictions = np.einsum("ctm,cm->tc", problem.kernels.cross, np.stack(alpha))
        return score(predictions, problem.logits, problem.labels)

    def place(H=10, tau_v=0.9, tau_g=0.9, ridge=RIDGE):
        arguments = (H, float(tau_v), float(tau_g), float(ridge))
        chosen = Distillation("local-global", H, float(tau_v), float(tau_g), "union", float(ridge))
        return lambda: chosen.scores(live)[0], lambda: alone(*arguments)

    def rank(r):
        return lambda: only(live.rank_curve([r], RIDGE).scores), lambda: rank_alone(r)

    for start in place(), rank(1):
        start[0]()
    return [
        slider("tau_v", 50, [place(tau_v=value) for value in np.linspace(0.5, 0.95, 25)]),
        slider("tau_g", 50, [place(tau_g=value) for value in np.linspace(0.0, 1.0, 25)]),
        slider("ridge", 50, [place(ridge=value) for value in np.geomspace(1e-8, 1.0, 25)]),
        slider("rank", 50, [rank(r) for r in range(10, 500, 20)]),
        slider("H", 150, [place(H=value) for value in range(2, 51, 2)]),
    ]


def sizes(problem: Problem) -> bool:
    """Time a 60-point size curve against solving each size on its own."""
    order = np.random.default_rng(0).permutation(len(problem.targets))
    mixing, points = selection(order, len(order)), np.linspace(5, len(order), 60).astype(int)
    lam = absolute_ridge(problem.kernels, RIDGE)

    def alone():
        found = []
        for size in points:
            head = mixing.head(size)
            gram = compress(problem.kernels, problem.targets, head).gram
            found.append((evaluate(problem, head, RIDGE), conditioning(gram, lam)))
        return found

    fast, slow, equal = [], [], True
    for _ in range(3):
        (quick, curve), (long, reference) = timed(lambda: size_curve(problem, mixing, points, RIDGE)), timed(alone)
        fast.append(quick)
        slow.append(long)
        for i, (scores, (condition, _)) in enumerate(reference):
            equal &= same(Scores({name: values[i] for name, values in curve.scores.items()}), scores)
            equal &= bool(np.isclose(curve.condition[i], condition.mean(), rtol=0.02))
    return line("size curve", fast, slow, np.inf, 3, equal)


def grid(problem: Problem, live: Live) -> bool:
    """Time a 4 × 10 × 10 grid against solving each cell on its own; both are given the local eigenvectors."""
    parts = [live.decomposition(H) for H in (5, 10, 15, 20)]
    tau_v, tau_g = np.linspace(0.5, 0.95, 10), np.linspace(0.1, 1.0, 10)

    def alone():
        cells = [(each, v, g) for each in parts for v in tau_v for g in tau_g]
        return [evaluate(problem, local_global_of(each, float(v), float(g), "union"), RIDGE) for each, v, g in cells]

    fast, slow, equal = [], [], True
    for _ in range(2):
        quick, found = timed(lambda: grid_of(problem, parts, tau_v, tau_g, RIDGE, "union"))
        long, reference = timed(alone)
        fast.append(quick)
        slow.append(long)
        cells = (Scores({name: values.flat[i] for name, values in found.scores.items()}) for i in range(found.s.size))
        equal &= all(same(cell, scores) for cell, scores in zip(cells, reference, strict=True))
    return line("grid", fast, slow, 5000, 8, equal)


# Moves of the sliders of each page, from where they first stand.
MOVES = {
    "Spectra": {"epsilon": (0.06, 0.08, 0.1), "ridge": (1e-3, 1e-2, 1e-1), "H": (9, 11, 12)},
    "Containment": {"H": (9, 11, 12), "epsilon": (0.06, 0.08, 0.1), "rank": (19, 21, 30)},
    "Gap coverage": {"H": (9, 11, 12), "epsilon": (0.06, 0.08, 0.1), "tau_g": (0.7, 0.75, 0.9)},
    "Gradient distillation": {
        "tau_v": (0.75, 0.85, 0.9),
        "tau_g": (0.7, 0.9, 0.95),
        "H": (9, 11, 12),
        "ridge": (1e-3, 1e-2, 1e-1),
    },
    "Grid search": {"tau_v": (0.75, 0.85), "H": (5, 15)},
    "Error budget": {"ridge": (1e-3, 1e-2, 1e-1), "epsilon": (0.06, 0.08)},
}


def pages() -> None:
    """Print what the panels of each page take on the embedded run after one move: median processor milliseconds."""
    from dntk_core import RunSpec, load_or_build
    from dntk_core.dashboard.choices.view import View
    from dntk_core.dashboard.offline.pages import page_of
    from dntk_core.dashboard.sections import SECTIONS

    run = load_or_build(RunSpec.default())
    print("\npage                     first look   " + "one move of each slider, ms")
    for name, moves in MOVES.items():
        first, _ = timed(lambda name=name: SECTIONS[name](page_of(run, View())))
        taken = {}
        for slider, values in moves.items():
            times = [timed(lambda v=v, s=slider, n=name: SECTIONS[n](page_of(run, View(**{s: v}))))[0] for v in values]
            taken[slider] = np.median(times, axis=0)[0] * 1e3
        print(
            f"{name:24} {first[0] * 1e3:8.0f} ms   " + ", ".join(f"{s} {ms:.0f}" for s, ms in taken.items()), flush=True
        )


if __name__ == "__main__":
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--pages", action="store_true", help="time every page of the embedded run too")
    arguments = options.parse_args()
    problem = synthetic_problem()
    live = Live(problem)
    print("           ---- processor, ms -----   ---- wall, ms ---   -- on its own --")
    print("             median      p95    limit     median      p95    takes at least   scores")
    passed = [*sliders(problem, live), sizes(problem), grid(problem, live)]
    if arguments.pages:
        pages()
    sys.exit(0 if all(passed) else 1)
