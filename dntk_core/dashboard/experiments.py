"""The paper's experiments on one run: pictures, numbers, and how they compare with what the paper says."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from dntk_core.dashboard import literal
from dntk_core.dashboard.metrics import FIRST, METRICS, of, words, written
from dntk_core.dashboard.null_model import against
from dntk_core.dashboard.page import Page
from dntk_core.dashboard.panel import Panel
from dntk_core.dashboard.sections import containment, coverage, curves, grid, ledger, spectra
from dntk_core.distill import METHODS
from dntk_core.kernels.spectrum import Between
from dntk_core.readout.comparison import MethodCurve
from dntk_core.readout.curves import Curve
from dntk_core.readout.ridge import READOUTS
from dntk_core.run.ledger import ledger as costs

SIZES = (5, 10, 20, 50, 100, 250, 500)
EPSILON, CLUSTERS = 0.05, 10
# Methods whose gradients are those of some inputs, not mixtures: the paper's sampling baselines.
SELECTIONS = tuple(name for name, method in METHODS.items() if method.selects)
# A curve that reaches this share of its last accuracy has saturated.
NEARLY = 0.97


@dataclass(frozen=True)
class Finding:
    """One experiment on one run: its pictures, its numbers as Markdown, one sentence, and whether the paper's holds."""

    panels: tuple[Panel, ...]
    numbers: str
    same: bool
    sentence: str


def over_size(here: Page) -> Finding:
    """Scores with ever more inputs, drawn at random."""
    sizes = [s for s in SIZES if s <= len(here.run.targets)]
    curve = here.live.size_curve("random", sizes, here.view.ridge)
    rows = [
        [s, *_scores(here, curve, i), f"{curve.condition[i]:.2g}", f"{curve.smallest[i]:.2g}"]
        for i, s in enumerate(sizes)
    ]
    enough, accuracy = _saturated(sizes, curve.accuracy)
    sentence = (
        f"{enough} inputs reach {_accuracy(here, accuracy)}, all {sizes[-1]} {_accuracy(here, curve.accuracy[-1])}, "
        f"the network itself {here.run.test_accuracy:.1%}"
    )
    same = enough <= sizes[-1] // 2
    if not same:
        sentence += "; of so few inputs each still counts"
    panel = curves.panel(_with(here, method="random"), "size")
    numbers = table(["inputs", *map(words, METRICS.values()), "condition", "smallest"], rows)
    return Finding((panel,), numbers, same, sentence)


def class_spectra(here: Page) -> Finding:
    """How many directions hold 95 % of each class kernel."""
    found = [spectrum.rank(EPSILON) for spectrum in here.live.spectra()]
    m = len(here.run.targets)
    rows = [
        [name, f"{rank:.0f}", f"{Between(m / rank.high, m / rank.low):.1f}"]
        for name, rank in zip(_classes(here), found, strict=True)
    ]
    ranks = [rank.low for rank in found] + [rank.high for rank in found]
    redundancy = m / max(ranks), m / min(ranks)
    same = redundancy[1] >= 12 and redundancy[0] <= 16
    because = "the paper's inputs are distilled images, which may be more alike than these real ones"
    if here.run.spec.distilled:
        because = f"the paper has 500 distilled images, here there are {m}, which leaves less to be redundant"
    sentence = (
        f"ranks {min(ranks):.0f}–{max(ranks):.0f} of {m}, a redundancy of {redundancy[0]:.1f}–{redundancy[1]:.1f}"
    )
    numbers = table(["class", "truncation rank", "redundancy"], rows)
    return Finding(spectra.panels(here)[:1], numbers, same, sentence if same else f"{sentence}: {because}")


def over_rank(here: Page) -> Finding:
    """Scores of the best rank-r kernels."""
    m = len(here.run.targets)
    ranks = [r for r in (1, 2, 5, 10, 20, 50, 100, 250, 500) if r <= m]
    curve = here.live.rank_curve(ranks, here.view.ridge)
    enough, accuracy = _saturated(ranks, curve.accuracy)
    rows = [[r, *_scores(here, curve, i)] for i, r in enumerate(ranks)]
    sentence = (
        f"rank {enough} of {m} reaches {_accuracy(here, accuracy)}, the full rank {_accuracy(here, curve.accuracy[-1])}"
    )
    numbers = table(["rank", *map(words, METRICS.values())], rows)
    return Finding((curves.panel(here, "rank"),), numbers, enough <= m // 5, sentence)


def contained(here: Page) -> Finding:
    """Property (A) for every class, beside random clusters of the same sizes."""
    H, classes = here.view.H, range(len(here.run.class_names))
    found = [here.live.containment(H, EPSILON, c) for c in classes]
    random = [here.live.random_containments(H, EPSILON, c) for c in classes]
    # The highest rank at which some cluster of every class is not contained by arithmetic alone.
    testable = max(1, min(min(int(each.sizes.max()) - 1, each.global_rank) for each in found))
    rows = []
    for name, result, draws in zip(_classes(here), found, random, strict=True):
        ends = (f"{curve[-1]:.1%}" for curve in (result.minimum, result.mean, result.maximum))
        drawn = _range([each.mean[testable - 1] for each in draws])
        rows.append([name, result.global_rank, *ends, f"{result.mean[testable - 1]:.1%}", drawn])
    means = [result.mean[-1] for result in found]
    own = float(np.mean([result.mean[testable - 1] for result in found]))
    draws = np.mean([[each.mean[testable - 1] for each in drawn] for drawn in random], axis=0)
    sentence = f"{_range(means)} of the clusters' variance on average"
    largest = max(int(result.sizes.max()) for result in found)
    if min(result.global_rank for result in found) >= largest:
        sentence += f", which is not testable: no cluster has more than {largest} inputs, fewer than the global rank"
    beside = against(own, draws.tolist()).removesuffix(".")
    sentence += f". At rank {testable}, testable in every class, {own:.1%}{beside}"
    header = ["class", "rank", "least contained cluster", "mean", "most", f"mean at rank {testable}", "random clusters"]
    return Finding(containment.panels(_with(here, kernel=0), True), table(header, rows), min(means) > 0.95, sentence)


def uncovered(here: Page) -> Finding:
    """Property (B) for every class, judged by the mean misalignment: the other measure cannot reach the paper's."""
    H, classes = here.view.H, range(len(here.run.class_names))
    found = [here.live.coverage(H, EPSILON, c) for c in classes]
    random = [here.live.random_coverages(H, EPSILON, c) for c in classes]
    missed = [result.misaligned for result in found]
    rows = [
        [name, f"{result.uncovered:.1%}", f"{result.misaligned:.1%}", _range([each.misaligned for each in drawn])]
        for name, result, drawn in zip(_classes(here), found, random, strict=True)
    ]
    same = min(missed) >= 0.10 and max(missed) <= 0.17
    draws = np.mean([[each.misaligned for each in drawn] for drawn in random], axis=0)
    beside = against(float(np.mean(missed)), draws.tolist()).removesuffix(".")
    sentence = (
        f"mean misalignment {_range(missed)}, over classes {np.mean(missed):.1%}{beside}; uncovered variance "
        f"{_range([result.uncovered for result in found])}, which at this ε can never exceed "
        f"{EPSILON / (1 - EPSILON):.1%}"
    )
    numbers = table(["class", "uncovered variance", "mean misalignment", "misalignment of random clusters"], rows)
    return Finding((coverage.every(here, True),), numbers, same, sentence)


def methods(here: Page) -> Finding:
    """Every method with five to fifty gradients, in both readouts, with what it covers."""
    sizes = [s for s in (5, 10, 20, 50) if s <= len(here.run.targets) // 2]
    found = {by: here.live.compare(sizes, here.view.ridge, curves.SEEDS, by=by) for by in READOUTS}
    rows = [
        [curve.method, READOUTS[by].title]
        + [f"{_mean(here, curve, 'accuracy', i)} / {_mean(here, curve, 'fidelity', i)}" for i in range(len(sizes))]
        + [f"{curve.mean('coverage')[0]:.2f} / {curve.mean('reconstruction')[0]:.3g}"]
        for pair in zip(*found.values(), strict=True)
        for by, curve in zip(found, pair, strict=True)
    ]
    by_name = {by: {curve.method: curve for curve in curves_} for by, curves_ in found.items()}
    five, other = by_name["paper"], by_name["nystrom"]
    ours = five["local-global"]
    best, best_other = (max(SELECTIONS, key=lambda name: each[name].mean("accuracy")[0]) for each in (five, other))
    ahead = ours.ahead_of(five[best], 0)
    sentence = (
        f"local-global {_mean(here, ours, 'accuracy', 0)} accuracy, {_mean(here, ours, 'fidelity', 0)} fidelity "
        f"({ours.settings[0]}), {_points(*ahead)} against the best set of inputs ({best}, "
        f"{five[best].mean('accuracy')[0]:.1%}); fitted to every target instead, "
        f"{_points(*other['local-global'].ahead_of(other[best_other], 0))} against {best_other}; "
        + ", ".join(f"{name} {five[name].mean('accuracy')[0]:.1%}" for name in ("kernel PCA", "k-means centroids"))
        + f", ridge-optimal, which sees the outputs, {five['ridge-optimal'].mean('accuracy')[0]:.1%}; all "
        f"{len(here.run.targets)} inputs {_accuracy(here, here.live.scores(None, here.view.ridge).accuracy)}, the "
        f"network itself {here.run.test_accuracy:.1%}"
    )
    header = [
        "method", "readout", *(f"s = {s}: accuracy / fidelity" for s in sizes), "s = 5: covered / reconstruction error"
    ]  # fmt: skip
    notes = [
        f"- {name}, s = {s}: {setting}"
        for name, curve in five.items()
        for s, setting in zip(sizes, curve.settings, strict=True)
        if setting
    ]
    numbers = "\n".join([table(header, rows), "", *notes])
    return Finding((curves.panel(here, "methods"),), numbers, ahead[0] > 0.1, sentence)


def thresholds(here: Page) -> Finding:
    """The grid for H = 5, 10, 15, 20."""
    settings = grid.best_settings(here, FIRST)
    used = sorted({setting["H"] for setting in settings.values()})
    sentence = f"{len(settings)} Pareto-optimal settings, with H = {', '.join(map(str, used))}"
    return Finding(grid.panels(here), "\n".join(f"- {line}" for line in settings), len(used) > 1, sentence)


def saved(here: Page) -> Finding:
    """Cost and saving."""
    sizes = ledger.description(here)
    found = costs(sizes)
    flops, held = found.paper.saving("flops"), found.paper.saving("bytes")
    sentence = (
        f"as the paper counts, one kernel alone, {_times(flops)} FLOPs and {_times(held)} bytes than the naive kernel; "
        f"with everything, gradients included, {_times(found.everything.saving('flops'))} FLOPs and "
        f"{_times(found.everything.saving('bytes'))} bytes"
    )
    # Five orders of magnitude, rounded.
    same = flops >= 10**4.5
    because = f"the saving grows with n/m, here {sizes.n:,}/{sizes.m}"
    return Finding(ledger.panels(here), "", same, sentence if same else f"{sentence}: {because}")


# Title, what the paper says, how it is found here.
EXPERIMENTS: tuple[tuple[str, str, Callable[[Page], Finding]], ...] = (
    ("Over size", "scores soon reach the level of the network, with few inputs.", over_size),
    ("Class spectra", "truncation ranks 31–41 of 500: a redundancy of 12–16 at ε = 0.05.", class_spectra),
    ("Over rank", "scores saturate quickly with rank.", over_rank),
    ("Property (A)", "almost all of the clusters' variance lies in the global eigenspace at ε = 0.05.", contained),
    ("Property (B)", "12–15 % of the global variance lies outside the union of all clusters.", uncovered),
    ("Methods", "five gradients (100×): 76 % accuracy, 78 % fidelity; sampling baselines far below.", methods),
    ("Grid search", "Pareto-optimal settings are spread over the grid and depend on the data.", thresholds),
    ("Cost", "up to five orders of magnitude less computation.", saved),
)


def table(header: Sequence[str], rows: Sequence[Sequence]) -> str:
    """Markdown."""
    lines = [" | ".join(map(str, row)) for row in (header, ["---"] * len(header), *rows)]
    return "\n".join(f"| {line} |" for line in lines)


def _saturated(x: Sequence[int], accuracy: np.ndarray) -> tuple[int, float]:
    """Where a curve comes near its end, and how high it is there."""
    i = int(np.argmax(accuracy >= NEARLY * accuracy[-1]))
    return x[i], float(accuracy[i])


def _classes(here: Page) -> list[str]:
    return [literal.markdown(name) for name in here.run.class_names]


def _with(here: Page, **changes) -> Page:
    return Page(here.run, here.live, here.view.replace(**changes), here.link)


def _scores(here: Page, curve: Curve, i: int) -> list[str]:
    t = len(here.live.problem.labels)
    return [written(metric, float(of(curve, name)[i]), t) for name, metric in METRICS.items()]


def _accuracy(here: Page, value: float) -> str:
    return written(METRICS["accuracy"], float(value), len(here.live.problem.labels))


def _mean(here: Page, curve: MethodCurve, metric: str, i: int) -> str:
    return written(METRICS[metric], float(curve.mean(metric)[i]), len(here.live.problem.labels))


def _points(ahead: float, low: float, high: float) -> str:
    """A difference of two methods on the same test inputs."""
    return f"{100 * ahead:+.0f} points (95 % interval {100 * low:+.0f} to {100 * high:+.0f}, paired)"


def _range(shares: Sequence[float]) -> str:
    return f"{min(shares):.1%}–{max(shares):.1%}"


def _times(saved: float) -> str:
    return f"{saved:,.0f} times fewer" if saved >= 1.5 else f"{1 / saved:.1f} times as many"
