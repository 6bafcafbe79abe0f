"""The paper's figures of compression, on one run: methods, coverage, grid search, cost."""

from dataclasses import replace

import numpy as np

from dntk_core.dashboard.drawing.metrics import FIRST
from dntk_core.dashboard.offline import verdicts
from dntk_core.dashboard.offline.finding import Finding, Point, clusterings, over_seeds, share, span, table
from dntk_core.dashboard.page import Page
from dntk_core.dashboard.sections import curves, grid, ledger
from dntk_core.readout.comparison import MethodCurve
from dntk_core.readout.ridge import READOUTS
from dntk_core.run.ledger import ledger as costs

# The paper's sampling baselines, and its own method with its own numbers of clusters.
BASELINES = ("random", "ridge leverage scores", "farthest point", "k-means medoids", "k-means centroids")
OURS, PAPERS = "local-global", "local-global, paper's H"
# The paper's own number of gradients, and the fewest that its numbers of clusters allow.
FIVE = 5


def methods(here: Page) -> Finding:
    """Every method with five gradients and more, in both readouts, with what it covers."""
    every = curves.method_sizes(len(here.run.targets))
    first = next((i for i, s in enumerate(every) if s >= FIVE), 0)
    sizes = every[first:]
    found = {by: [_from(curve, first) for curve in curves.compared(here, by)] for by in READOUTS}
    by_name = {by: {curve.method: curve for curve in group} for by, group in found.items()}
    full = here.live.scores(None, here.view.ridge).accuracy
    ours = {name: _reclustered(here, name, every, first) for name in (PAPERS, OURS)}
    points = [*_five(here, ours), *_margins(by_name), _matches(sizes, by_name["paper"], full)]
    points += _subspace(sizes, by_name["paper"], ours[OURS])
    rows = [
        [curve.method, READOUTS[by].title]
        + [f"{curve.mean('accuracy')[i]:.1%} / {curve.mean('fidelity')[i]:.1%}" for i in range(len(sizes))]
        + [f"{curve.mean('coverage')[0]:.2f} / {curve.mean('reconstruction')[0]:.3g}"]
        for pair in zip(*found.values(), strict=True)
        for by, curve in zip(found, pair, strict=True)
    ]
    header = ["method", "readout", *(f"s = {s}: accuracy / fidelity" for s in sizes), "s = 5: covered / error"]
    notes = [
        f"- {name}, s = {s}: {setting}"
        for name, curve in by_name["paper"].items()
        for s, setting in zip(sizes, curve.settings, strict=True)
        if setting
    ]
    return Finding(tuple(points), (curves.panel(here, "methods"),), "\n".join([table(header, rows), "", *notes]))


def _from(curve: MethodCurve, first: int) -> MethodCurve:
    """A curve without its first sizes."""
    parts = {name: getattr(curve, name)[..., first:] for name in ("sizes", "rows", "coverage", "reconstruction")}
    scores = {name: values[:, first:] for name, values in curve.scores.items()}
    return replace(curve, scores=scores, settings=curve.settings[first:], correct=curve.correct[:, first:], **parts)


def _reclustered(here: Page, name: str, sizes: list[int], first: int) -> list[MethodCurve]:
    """Algorithm 1 in the paper's readout, by the page's own clusters and by those of other seeds."""
    # The very sizes, seeds and readout of the comparison, which is remembered.
    found = [each.live.compare(sizes, each.view.ridge, curves.SEEDS, (name,), by="paper") for each in clusterings(here)]
    return [_from(curve, first) for (curve,) in found]


def _five(here: Page, found: dict[str, list[MethodCurve]]) -> list[Point]:
    """Five gradients by Algorithm 1, with the paper's own numbers of clusters and with any."""
    points = []
    for name, seeds in found.items():
        each = {metric: [float(curve.mean(metric)[0]) for curve in seeds] for metric in ("accuracy", "fidelity")}
        accuracy, fidelity = (float(np.mean(values)) for values in each.values())
        ours = ", ".join(over_seeds(values) for values in each.values())
        own = " and ".join(share(here, values[0], metric) for metric, values in each.items())
        ours += f"; one: {own}, {seeds[0].settings[0]}"
        verdict = verdicts.five_gradients(accuracy, fidelity, here.run.test_accuracy)
        points.append(Point(f"Five gradients by {name}", "76 % accuracy, 78 % fidelity", ours, verdict))
    return points


def _margins(found: dict[str, dict[str, MethodCurve]]) -> list[Point]:
    """How far Algorithm 1 is ahead of the best baseline at five gradients, by both readouts."""
    points = []
    for by, curves_ in found.items():
        best = max(BASELINES, key=lambda name: curves_[name].mean("accuracy")[0])
        margin, low, high = curves_[PAPERS].ahead_of(curves_[best], 0)
        theirs = _drawn(curves_[best].values("accuracy")[:, 0].tolist(), ".1%")
        ours = f"{100 * margin:+.0f} points ({100 * low:+.0f} to {100 * high:+.0f}, paired) to {best}, {theirs}"
        claim = f"It substantially outperforms sampling at s = 5, {READOUTS[by].title.lower()}"
        verdict = verdicts.far_ahead(margin, low, best)
        points.append(Point(claim, "baselines plateau well below", ours, verdict))
    return points


def _drawn(values: list[float], form: str) -> str:
    """A baseline's mean over its draws; a method that is not random has one."""
    return over_seeds(values, form) if len(values) > 1 else format(values[0], form)


def _matches(sizes: list[int], found: dict[str, MethodCurve], full: float) -> Point:
    """How many gradients match the full kernel."""

    def needed(name: str) -> float:
        enough = np.flatnonzero(found[name].mean("accuracy") >= verdicts.NEARLY * full)
        return float(sizes[enough[0]]) if len(enough) else np.inf

    ours, others = needed(OURS), {name: needed(name) for name in BASELINES}
    counts = ({OURS: ours} | others).items()
    numbers = ", ".join(f"{name} {_number(count, sizes[-1])}" for name, count in counts)
    verdict = verdicts.fewest(ours, others)
    return Point("It matches the full kernel with the fewest gradients", "far fewer than any", numbers, verdict)


def _subspace(sizes: list[int], found: dict[str, MethodCurve], seeds: list[MethodCurve]) -> list[Point]:
    """What the rows span: coverage, and reconstruction error, which is less where coverage is more.

    seeds: Algorithm 1's own curve by each clustering
    """
    ours, others = found[OURS].mean("coverage"), {name: found[name].mean("coverage") for name in BASELINES}
    best = max(BASELINES, key=lambda name: others[name][0])
    covered, theirs = ([c.mean("coverage") for c in seeds], found[best].values("coverage")[:, 0].tolist())
    numbers = f"s = {sizes[0]}: {over_seeds([each[0] for each in covered])}, {best} {_drawn(theirs, '.1%')}; "
    numbers += f"s = {sizes[-1]}: {over_seeds([each[-1] for each in covered])}"
    verdict = verdicts.covers_more(ours.tolist(), {name: each.tolist() for name, each in others.items()})
    error = {name: found[name].mean("reconstruction") for name in (OURS, *BASELINES)}
    least = min(BASELINES, key=lambda name: error[name][0])
    lost = f"s = {sizes[0]}: {over_seeds([float(c.mean('reconstruction')[0]) for c in seeds], '.3g')}, "
    lost += f"{least} {_drawn(found[least].values('reconstruction')[:, 0].tolist(), '.3g')}"
    less = verdicts.covers_more((-error[OURS]).tolist(), {name: (-error[name]).tolist() for name in BASELINES})
    return [
        Point("Its gradients cover more variance", "more than baselines", numbers, verdict),
        Point("… and reconstruct better", "less error than baselines", lost, less),
    ]


def thresholds(here: Page) -> Finding:
    """The grid for H = 5, 10, 15, 20, by five clusterings."""
    seeds = [grid.search(each) for each in clusterings(here)]
    found = seeds[0]
    used = [int(found.H[a]) for a, _, _ in found.frontier(FIRST)]
    optimal = over_seeds([len(each.frontier(FIRST)) for each in seeds], ".0f")
    gaps = np.array([(each.gap / each.s).mean(axis=(1, 2)) for each in seeds])
    correlations = [verdicts.rank_correlation(each.s, each[FIRST]) for each in seeds]
    points = (
        Point(
            "Pareto-optimal settings are scattered",
            "sporadically over the grid",
            f"{optimal} settings; one: " + ", ".join(f"{used.count(H)} with H = {H}" for H in sorted(set(used))),
            verdicts.scattered(used, found.H.tolist()),
        ),
        Point(
            "Fewer clusters leave more in the gaps",
            "H = 5 more than H = 20",
            "share of gap gradients " + ", ".join(over_seeds(gap) for gap in gaps.T.tolist()),
            verdicts.fewer_clusters_more_gaps(gaps.mean(axis=0).tolist()),
        ),
        Point(
            "Performance grows with the number of gradients",
            "naturally",
            f"rank correlation {over_seeds(correlations, '.2f')}; fidelity {span(found[FIRST].ravel().tolist())} for "
            f"s = {found.s.min()}–{found.s.max()}",
            verdicts.grows(float(np.mean(correlations))),
        ),
    )
    settings = grid.best_settings(here, FIRST)
    heatmaps, _, counts = grid.panels(here)
    return Finding(points, (counts, heatmaps), "\n".join(f"- {line}" for line in settings))


def saved(here: Page) -> Finding:
    """Cost and saving, in both counts."""
    found = costs(ledger.description(here))
    points = []
    for name, count in (("as the paper counts, one kernel", found.paper), ("everything counted", found.everything)):
        flops, held = count.saving("flops"), count.saving("bytes")
        ours = f"{_times(flops)} FLOPs, {_times(held)} bytes"
        points.append(Point(f"Cost of a kernel, {name}", "10⁵ times less", ours, verdicts.five_orders(flops)))
    return Finding(tuple(points), ledger.panels(here))


def _times(saving: float) -> str:
    return f"{saving:,.0f} times fewer" if saving >= 1.5 else f"{1 / saving:.1f} times as many"


def _number(count: float, most: int) -> str:
    return f"{count:.0f}" if np.isfinite(count) else f"more than {most}"
