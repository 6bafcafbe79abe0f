"""The paper's experiments on one run: pictures, numbers, and how they compare with what the paper says."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from dntk_core.dashboard import literal
from dntk_core.dashboard.metrics import FIRST, METRICS, of, words
from dntk_core.dashboard.page import Page
from dntk_core.dashboard.panel import Panel
from dntk_core.dashboard.sections import containment, coverage, curves, grid, ledger, spectra
from dntk_core.distill import METHODS
from dntk_core.kernels.spectrum import truncation_rank
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
        [s, *_scores(curve, i), f"{curve.condition[i]:.2g}", f"{curve.smallest[i]:.2g}"] for i, s in enumerate(sizes)
    ]
    enough, accuracy = _saturated(sizes, curve.accuracy)
    sentence = (
        f"{enough} inputs reach {accuracy:.1%}, all {sizes[-1]} {curve.accuracy[-1]:.1%}, the network itself "
        f"{here.run.test_accuracy:.1%}"
    )
    same = enough <= sizes[-1] // 2
    if not same:
        sentence += "; of so few inputs each still counts"
    panel = curves.panel(_with(here, method="random"), "size")
    numbers = table(["inputs", *map(words, METRICS.values()), "condition", "smallest"], rows)
    return Finding((panel,), numbers, same, sentence)


def class_spectra(here: Page) -> Finding:
    """How many directions hold 95 % of each class kernel."""
    ranks = [truncation_rank(spectrum.values, EPSILON) for spectrum in here.live.spectra()]
    m = len(here.run.targets)
    rows = [[name, rank, f"{m / rank:.1f}"] for name, rank in zip(_classes(here), ranks, strict=True)]
    redundancy = m / max(ranks), m / min(ranks)
    same = redundancy[1] >= 12 and redundancy[0] <= 16
    because = "the paper's inputs are distilled images, which may be more alike than these real ones"
    if here.run.spec.distilled:
        because = f"the paper has 500 distilled images, here there are {m}, which leaves less to be redundant"
    sentence = f"ranks {min(ranks)}–{max(ranks)} of {m}, a redundancy of {redundancy[0]:.1f}–{redundancy[1]:.1f}"
    numbers = table(["class", "truncation rank", "redundancy"], rows)
    return Finding(spectra.panels(here)[:1], numbers, same, sentence if same else f"{sentence}: {because}")


def over_rank(here: Page) -> Finding:
    """Scores of the best rank-r kernels."""
    m = len(here.run.targets)
    ranks = [r for r in (1, 2, 5, 10, 20, 50, 100, 250, 500) if r <= m]
    curve = here.live.rank_curve(ranks, here.view.ridge)
    enough, accuracy = _saturated(ranks, curve.accuracy)
    rows = [[r, *_scores(curve, i)] for i, r in enumerate(ranks)]
    sentence = f"rank {enough} of {m} reaches {accuracy:.1%}, the full rank {curve.accuracy[-1]:.1%}"
    numbers = table(["rank", *map(words, METRICS.values())], rows)
    return Finding((curves.panel(here, "rank"),), numbers, enough <= m // 5, sentence)


def contained(here: Page) -> Finding:
    """Property (A) for every class."""
    found = [here.live.containment(here.view.H, EPSILON, c) for c in range(len(here.run.class_names))]
    rows = [
        [name, result.global_rank, *(f"{curve[-1]:.3f}" for curve in (result.minimum, result.mean, result.maximum))]
        for name, result in zip(_classes(here), found, strict=True)
    ]
    means = [result.mean[-1] for result in found]
    sentence = f"{_range(means)} of the clusters' variance on average"
    largest = max(np.bincount(here.live.labels(here.view.H, c)).max() for c in range(len(found)))
    if min(result.global_rank for result in found) >= largest:
        sentence += f"; no cluster has more than {largest} inputs, fewer than the global rank, so that it must be so"
    header = ["class", "rank", "least contained cluster", "mean", "most"]
    return Finding(containment.panels(_with(here, kernel=0)), table(header, rows), min(means) > 0.95, sentence)


def uncovered(here: Page) -> Finding:
    """Property (B) for every class."""
    shares = [here.live.coverage(here.view.H, EPSILON, c).uncovered for c in range(len(here.run.class_names))]
    rows = [[name, f"{share:.1%}"] for name, share in zip(_classes(here), shares, strict=True)]
    same = min(shares) >= 0.10 and max(shares) <= 0.17
    because = "every cluster keeps 95 % of its own variance, which takes most of its few inputs' directions"
    sentence = f"{_range(shares)} of the global variance"
    numbers = table(["class", "uncovered"], rows)
    return Finding((coverage.every(here),), numbers, same, sentence if same else f"{sentence}: {because}")


def methods(here: Page) -> Finding:
    """Every method with five to fifty gradients, with what it covers."""
    sizes = [s for s in (5, 10, 20, 50) if s <= len(here.run.targets) // 2]
    found = here.live.compare(sizes, here.view.ridge, curves.SEEDS)
    rows = [
        [curve.method]
        + [f"{curve.mean('accuracy')[i]:.3f} / {curve.mean('fidelity')[i]:.3f}" for i in range(len(sizes))]
        + [f"{curve.mean('coverage')[0]:.2f} / {curve.mean('reconstruction')[0]:.3g}"]
        for curve in found
    ]
    five = {curve.method: curve.mean("accuracy")[0] for curve in found}
    fidelity = next(curve.mean("fidelity")[0] for curve in found if curve.method == "local-global")
    best = max(SELECTIONS, key=lambda name: five[name])
    ahead = five["local-global"] - five[best]
    sentence = (
        f"local-global {five['local-global']:.1%} accuracy, {fidelity:.1%} fidelity, {100 * ahead:+.0f} points against "
        f"the best set of inputs ({best}, {five[best]:.1%}); kernel PCA {five['kernel PCA']:.1%}, centroids "
        f"{five['k-means centroids']:.1%}, ridge-optimal, which sees the outputs, {five['ridge-optimal']:.1%}; all "
        f"{len(here.run.targets)} inputs {here.live.scores(None, here.view.ridge).accuracy:.1%}, the network itself "
        f"{here.run.test_accuracy:.1%}"
    )
    header = ["method", *(f"s = {s}: accuracy / fidelity" for s in sizes), "s = 5: covered / reconstruction error"]
    return Finding((curves.panel(here, "methods"),), table(header, rows), ahead > 0.1, sentence)


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


def _scores(curve, i: int) -> list[str]:
    return [format(of(curve, name)[i], metric.format) for name, metric in METRICS.items()]


def _range(shares: Sequence[float]) -> str:
    return f"{min(shares):.1%}–{max(shares):.1%}"


def _times(saved: float) -> str:
    return f"{saved:,.0f} times fewer" if saved >= 1.5 else f"{1 / saved:.1f} times as many"
