"""The paper's figures of the kernel itself, on one run: size, spectra, rank, properties (A) and (B)."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from dntk_core.dashboard.drawing.metrics import METRICS, words
from dntk_core.dashboard.drawing.panel import Panel
from dntk_core.dashboard.offline import verdicts
from dntk_core.dashboard.offline.finding import (
    EPSILON,
    SEEDS,
    Finding,
    Point,
    changed,
    classes,
    clusterings,
    over_seeds,
    scores,
    share,
    span,
    table,
)
from dntk_core.dashboard.page import Page
from dntk_core.dashboard.sections import containment, coverage, curves, spectra
from dntk_core.kernels.spectrum import ENERGIES, Between
from dntk_core.kernels.structure import Containment, Coverage
from dntk_core.run.live import Live

SIZES = (5, 10, 20, 50, 100, 125, 250, 500)
RANKS = (1, 2, 5, 10, 20, 50, 100, 125, 250, 500)
SYMBOLS = {"gradients": "λ", "kernel": "λ²"}


def over_size(here: Page) -> Finding:
    """Scores with ever more inputs, drawn evenly by class, five times."""
    m = len(here.run.targets)
    sizes = [s for s in SIZES if s <= m]
    drawn = [here.live.size_curve("random", sizes, here.view.ridge, seed) for seed in SEEDS]
    accuracy = np.array([curve.accuracy for curve in drawn])
    mean, i = accuracy.mean(axis=0), len(sizes) - 1
    enough = verdicts.reached(sizes, mean)
    at = sizes.index(enough)
    rows = [
        [
            s,
            *(over_seeds([curve[name][j] for curve in drawn], metric.format) for name, metric in METRICS.items()),
            f"{drawn[0].condition[j]:.2g}",
            f"{drawn[0].smallest[j]:.2g}",
        ]
        for j, s in enumerate(sizes)
    ]
    points = (
        Point(
            "Accuracy and fidelity saturate with few inputs",
            "quickly, of 500",
            f"{enough} of {m} inputs reach {over_seeds(accuracy[:, at].tolist())}, all {share(here, mean[i])}",
            verdicts.saturates(sizes, mean.tolist()),
        ),
        Point(
            "… at the level of the network",
            "the original model's",
            f"{share(here, mean[i])}, the network {here.run.test_accuracy:.1%}",
            verdicts.level(float(mean[i]), here.run.test_accuracy),
        ),
    )
    header = ["inputs", *map(words, METRICS.values()), "condition", "smallest eigenvalue"]
    return Finding(points, (curves.panel(changed(here, method="random"), "size"),), table(header, rows))


def class_spectra(here: Page) -> Finding:
    """How many directions hold 95 % of each class kernel's energy, by both energies; how its spectrum decays."""
    found, m = here.live.spectra(), len(here.run.targets)
    ranks = {energy: [spectrum.by(energy).rank(EPSILON) for spectrum in found] for energy in ENERGIES}
    points = []
    for energy, each in ranks.items():
        ends = [rank.low for rank in each] + [rank.high for rank in each]
        mean = over_seeds([(rank.low + rank.high) / 2 for rank in each], ".0f", "classes")
        ours = f"{min(ends):.0f}–{max(ends):.0f} of {m}, {mean}; redundancy {m / max(ends):.1f}–{m / min(ends):.1f}"
        claim = f"Truncation ranks at ε = 0.05, energy {SYMBOLS[energy]}"
        points.append(Point(claim, "31–41 of 500, redundancy 12–16", ours, verdicts.ranks(ends, m)))
    decay = [verdicts.exponential(spectrum.values) for spectrum in found]
    same = sum(each.word == verdicts.SAME for each in decay)
    ours = f"closer to exponential than to a power law in {same} of {len(decay)} classes"
    points.append(Point("Singular values fall exponentially", "all classes", ours, verdicts.every_class(decay)))
    rows = [
        [name, *(f"{ranks[energy][c]:.0f}" for energy in ENERGIES)]
        + [f"{Between(m / ranks[energy][c].high, m / ranks[energy][c].low):.1f}" for energy in ENERGIES]
        for c, name in enumerate(classes(here))
    ]
    symbols = [SYMBOLS[energy] for energy in ENERGIES]
    numbers = table(["class", *(f"rank, {s}" for s in symbols), *(f"redundancy, {s}" for s in symbols)], rows)
    decays, _, _ = spectra.panels(here)
    both = [_named(spectra.panels(changed(here, energy=energy))[1], energy) for energy in ENERGIES]
    return Finding(tuple(points), (decays, *both), numbers)


def over_rank(here: Page) -> Finding:
    """Scores of the best rank-r kernels."""
    m = len(here.run.targets)
    ranks = [r for r in RANKS if r <= m]
    curve = here.live.rank_curve(ranks, here.view.ridge)
    enough = verdicts.reached(ranks, curve.accuracy.tolist())
    at = ranks.index(enough)
    ours = f"rank {enough} of {m} reaches {share(here, curve.accuracy[at])}, all {share(here, curve.accuracy[-1])}"
    verdict = verdicts.saturates(ranks, curve.accuracy.tolist())
    rows = [[r, *scores(here, curve, i)] for i, r in enumerate(ranks)]
    point = Point("Scores saturate with rank", "quickly", ours, verdict)
    return Finding((point,), (curves.panel(here, "rank"),), table(["rank", *map(words, METRICS.values())], rows))


@dataclass(frozen=True)
class Structure:
    """Properties (A) and (B) of every class kernel: of the clusters, of random ones, and of other clusterings.

    found: a result per class; random: a few per class; seeds: the mean over classes for each seed of the clustering
    """

    found: list
    random: list[tuple]
    seeds: list[float]


def contained(here: Page) -> Finding:
    """Property (A) for every class by both energies, beside random clusters of the same sizes."""
    both = {energy: _containments(here, energy) for energy in ENERGIES}
    points, rows, panels = [], [], []
    for energy, parts in both.items():
        found: list[Containment] = parts.found
        means, ranks = [float(each.mean[-1]) for each in found], [each.global_rank for each in found]
        largest = [int(each.sizes.max()) for each in found]
        chance = [float(np.mean([draw.mean[-1] for draw in draws])) for draws in parts.random]
        claim = f"(A) Local variance lies in the global eigenspace, energy {SYMBOLS[energy]}"
        ours = f"{over_seeds(parts.seeds)}; random clusters {span(chance)}"
        points.append(Point(claim, "almost entirely at ε = 0.05", ours, verdicts.contained(means, ranks, largest)))
        each = [verdicts.contained([a], [b], [c]) for a, b, c in zip(means, ranks, largest, strict=True)]
        points.append(Point("… in every class", "all ten", _count(each), verdicts.every_class(each)))
        panels.append(_named(containment.panels(changed(here, kernel=0, energy=energy), True)[0], energy))
        rows += [
            [name, SYMBOLS[energy], each.global_rank, int(each.sizes.max())]
            + [f"{curve[-1]:.1%}" for curve in (each.minimum, each.mean, each.maximum)]
            + [f"{random:.1%}"]
            for name, each, random in zip(classes(here), found, chance, strict=True)
        ]
    header = ["class", "energy", "rank", "largest cluster", "least contained", "mean", "most", "random clusters, mean"]
    return Finding(tuple(points), tuple(panels), table(header, rows))


def uncovered(here: Page) -> Finding:
    """Property (B) for every class by both energies, judged by the mean misalignment."""
    m = len(here.run.targets)
    points, rows, panels = [], [], []
    for energy in ENERGIES:
        parts = _coverages(here, energy)
        found: list[Coverage] = parts.found
        missed = [each.misaligned for each in found]
        chance = [float(np.mean([draw.misaligned for draw in draws])) for draws in parts.random]
        claim = f"(B) Global directions outside all clusters, energy {SYMBOLS[energy]}"
        ours = (
            f"{over_seeds(parts.seeds)}, classes {span(missed)}; random clusters {span(chance)}; by variance "
            f"{span([each.uncovered for each in found])}"
        )
        points.append(Point(claim, "12–15 %", ours, verdicts.uncovered(missed, m)))
        each = [verdicts.uncovered([one], m) for one in missed]
        points.append(Point("… in every class", "the same trends in all ten", _count(each), verdicts.every_class(each)))
        panels.append(_named(coverage.every(changed(here, energy=energy), True), energy))
        rows += [
            [name, SYMBOLS[energy], f"{result.uncovered:.1%}", f"{result.misaligned:.1%}", f"{random:.1%}"]
            for name, result, random in zip(classes(here), found, chance, strict=True)
        ]
    header = ["class", "energy", "uncovered variance", "mean misalignment", "of random clusters"]
    return Finding(tuple(points), tuple(panels), table(header, rows))


def _containments(here: Page, energy: str) -> Structure:
    H, every = here.view.H, range(len(here.run.class_names))
    found = [here.live.containment(H, EPSILON, c, energy) for c in every]
    random = [here.live.random_containments(H, EPSILON, c, energy) for c in every]

    def mean(live: Live) -> float:
        return float(np.mean([live.containment(H, EPSILON, c, energy).mean[-1] for c in every]))

    return Structure(found, random, [mean(each.live) for each in clusterings(here)])


def _coverages(here: Page, energy: str) -> Structure:
    H, every = here.view.H, range(len(here.run.class_names))
    found = [here.live.coverage(H, EPSILON, c, energy) for c in every]
    random = [here.live.random_coverages(H, EPSILON, c, energy) for c in every]

    def mean(live: Live) -> float:
        return float(np.mean([live.coverage(H, EPSILON, c, energy).misaligned for c in every]))

    return Structure(found, random, [mean(each.live) for each in clusterings(here)])


def _count(each: Sequence[verdicts.Verdict]) -> str:
    return f"{sum(one.word == verdicts.SAME for one in each)} of {len(each)} classes"


def _named(panel: Panel, energy: str) -> Panel:
    """A panel that is drawn by both energies."""
    return replace(panel, key=f"{panel.key}_{energy}", title=f"{panel.title}, energy {SYMBOLS[energy]}")
