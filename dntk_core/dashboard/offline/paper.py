"""The paper's experiments on real networks, as one Markdown page: claims beside our numbers, pictures, rules."""

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import plotly.graph_objects as go

from dntk_core.base.terminal import duration
from dntk_core.dashboard.choices.view import View, link
from dntk_core.dashboard.offline.compression import methods, saved, thresholds
from dntk_core.dashboard.offline.costs import computed, spent
from dntk_core.dashboard.offline.experiments import class_spectra, contained, over_rank, over_size, uncovered
from dntk_core.dashboard.offline.finding import CLUSTERS, EPSILON, Finding, Point, table
from dntk_core.dashboard.offline.pairs import base_models, second_dataset
from dntk_core.dashboard.offline.pictures import save_pictures
from dntk_core.dashboard.offline.verdicts import RULES, unfinished
from dntk_core.dashboard.page import Page
from dntk_core.dashboard.sections import layers
from dntk_core.run.live import Live
from dntk_core.run.pipeline import Run

# The runs of a dataset: real inputs, the paper's distilled ones, and the paper's other base model on these.
REAL, DISTILLED, STUDENT = "{}, real images", "{}, distilled images", "{}, distilled images and network of these"
# As many real images, drawn at random, and a network that learnt from these in the same way.
CHOSEN = "{}, random real images and network of these"
# Real inputs once more, with the network's blocks kept apart.
BLOCKS = "{}, real images, blocks apart"


@dataclass(frozen=True)
class Experiment:
    """One of the paper's: where it stands there, figures counted from its beginning, and how it is found on one run."""

    title: str
    place: str
    find: Callable[[Page], Finding]


EXPERIMENTS = (
    Experiment("Over size", "Fig. 1", over_size),
    Experiment("Class spectra", "Fig. 2", class_spectra),
    Experiment("Over rank", "Fig. 5", over_rank),
    Experiment("Property (A)", "Figs. 4, 8", contained),
    Experiment("Property (B)", "Figs. 4, 8", uncovered),
    Experiment("Methods", "Figs. 3, 6", methods),
    Experiment("Grid search", "Fig. 9", thresholds),
    Experiment("Cost", "Sec. 1", saved),
)
BASES, SECOND = "Fig. 1", "Fig. 7"
CLAIMS = ["claim", "paper", "ours", "verdict"]
COLUMNS = (
    "Of each block's kernel: its share of the trace and of the full readout on test inputs, CKA with the whole kernel, "
    "alignment with the network's outputs and with labels, accuracy by itself and of all others together."
)
LEGEND = (
    "The paper studies ResNet-18 on ImageNette with 500 distilled images, 50 per class. *Same* and *Different* say "
    "whether its claim holds here, *Not comparable* that this run cannot tell, and why; the rules with their "
    "thresholds stand at the end. Intervals are 95 %: of shares over test inputs (in brackets), over seeds of draws or "
    "clusterings, or over classes, where named. Figures are counted from the paper's first. **λ** is the energy of the "
    "gradients, as the paper defines its truncation rank; **λ²** that of the kernel, as squared singular values of K "
    "give it. [Why ranks differ](why_ranks_differ.md) tells them apart."
)


@dataclass
class Results:
    """The runs by name, None where one is not finished, and what is written of them."""

    runs: Mapping[str, Run | None]
    datasets: tuple[str, ...]
    folder: Path
    pictures: dict[Path, go.Figure] = field(default_factory=dict)
    pages: dict[str, Page] = field(default_factory=dict)
    found: dict[tuple[str, str], Finding] = field(default_factory=dict)

    def page(self, name: str) -> Page | None:
        """A run as its pages see it, at the paper's settings; None if it is not finished."""
        run = self.runs.get(name)
        if run is None:
            return None
        if name not in self.pages:
            m = len(run.targets)
            view = View(H=min(CLUSTERS, m // 2), epsilon=EPSILON, rank=min(View().rank, m))
            self.pages[name] = Page(run, Live(run.problem), view, {"run": run.key, **link(view)})
        return self.pages[name]

    @property
    def studied(self) -> list[str]:
        """The runs that experiments are made on: all but those that others are compared with."""
        aside = {BLOCKS.format(self.datasets[0]), *map(CHOSEN.format, self.datasets)}
        return [name for name in self.runs if name not in aside]

    @property
    def nearest(self) -> str:
        """The run nearest to the paper's setting among those that are finished."""
        first = self.datasets[0]
        named = [each.format(first) for each in (DISTILLED, REAL)]
        return next(name for name in [*named, *self.runs] if self.runs.get(name) is not None)

    def experiment(self, name: str, experiment: Experiment) -> Finding | None:
        """One experiment on one run, found once."""
        here, key = self.page(name), (name, experiment.title)
        if here is not None and key not in self.found:
            self.found[key] = _placed(experiment.find(here), experiment.place)
        return self.found.get(key)

    def bases(self, dataset: str) -> Finding:
        """Both base models of a dataset on the same distilled images, beside one of random real images."""
        names = [each.format(dataset) for each in (DISTILLED, STUDENT)]
        claim = f"Base models on distilled images, {dataset}"
        chosen = self.page(CHOSEN.format(dataset))
        return _placed(self._pair(names, claim, lambda real, distilled: base_models(real, distilled, chosen)), BASES)

    def second(self) -> Finding | None:
        """The second dataset beside the first, on the inputs of the nearest run."""
        if len(self.datasets) < 2:
            return None
        kinds = [each for each in (DISTILLED, REAL) if self._finished(each)] or [REAL]
        names = [kinds[0].format(dataset) for dataset in self.datasets[:2]]
        claim = f"{self.datasets[1]} beside {self.datasets[0]}"
        found = self._pair(names, claim, lambda first, second: second_dataset(first, second, (names[0], names[1])))
        return _placed(found, SECOND)

    def _finished(self, kind: str) -> bool:
        return all(self.runs.get(kind.format(dataset)) is not None for dataset in self.datasets[:2])

    def _pair(self, names: list[str], claim: str, find: Callable[[Page, Page], Finding]) -> Finding:
        pages = [self.page(name) for name in names]
        missing = next((name for name, here in zip(names, pages, strict=True) if here is None), None)
        if missing is not None:
            return Finding((Point(claim, "–", "–", unfinished(missing)),))
        first, second = (here for here in pages if here is not None)
        return find(first, second)

    def written(self, finding: Finding, name: str) -> Iterator[str]:
        """A finding's claims, pictures and numbers."""
        yield from (table(CLAIMS, [point.row for point in finding.points]), "")
        for panel in finding.panels:
            path = self.folder / "pictures" / "results" / f"{_slug(name)}-{panel.key}.png"
            self.pictures[path] = panel.figure
            yield f"![{name}: {panel.title}]({path.relative_to(self.folder)})"
        if finding.numbers:
            yield from ("", "<details><summary>numbers</summary>", "", finding.numbers, "", "</details>")


def write_results(
    runs: Mapping[str, Run | None], datasets: tuple[str, ...], command: str, folder: Path
) -> tuple[Path, list[Point]]:
    """Write folder/results.md and its pictures; return it and the claims of its summary."""
    started = time.perf_counter()
    (folder / "pictures" / "results").mkdir(parents=True, exist_ok=True)
    results = Results(runs, datasets, folder)
    body = []
    for experiment in EXPERIMENTS:
        body += ["", f"## {experiment.title}"]
        for name in results.studied:
            finding = results.experiment(name, experiment)
            lines = ["*Not finished.*"] if finding is None else list(results.written(finding, name))
            body += ["", f"### {experiment.title}: {name}", "", *lines]
    body += ["", "## Base models"]
    for dataset in datasets:
        body += ["", f"### {dataset}", "", *results.written(results.bases(dataset), dataset)]
    if (second := results.second()) is not None:
        body += ["", "## The second dataset", "", *results.written(second, "second dataset")]
    body += ["", "## Blocks", "", *_blocks(results)]
    save_pictures(results.pictures)
    points = list(_summary(results))
    total = f"Its stages take {spent(runs)} of processor time"
    total += f", this page {duration(time.perf_counter() - started)} beside whatever else ran."
    lines = ["# The paper's experiments, rebuilt", "", f"    {command}", "", total, "", LEGEND, ""]
    lines += ["## Summary", "", f"Of the run nearest to the paper's: **{results.nearest}**.", ""]
    lines += [
        table(CLAIMS, [point.row for point in points]),
        *_everywhere(results),
        *computed(runs),
        *body,
        "",
        *_rules(),
    ]
    target = folder / "results.md"
    target.write_text("\n".join(lines) + "\n")
    return target, points


def _placed(finding: Finding, place: str) -> Finding:
    """A finding whose claims say where in the paper they stand."""
    return replace(finding, points=tuple(replace(each, paper=f"{each.paper} ({place})") for each in finding.points))


def _summary(results: Results) -> Iterator[Point]:
    """Every claim once: of the base models, of the nearest run, of the second dataset."""
    yield from results.bases(results.datasets[0]).points
    for experiment in EXPERIMENTS:
        finding = results.experiment(results.nearest, experiment)
        yield from finding.points if finding else ()
    if (second := results.second()) is not None:
        yield from second.points


def _everywhere(results: Results) -> Iterator[str]:
    """The verdicts of all experiments on all runs: a row per claim, a column per run."""
    done = [name for name in results.studied if results.runs.get(name) is not None]
    rows = []
    for experiment in EXPERIMENTS:
        findings = [results.experiment(name, experiment) for name in done]
        # Every run answers the same claims in the same order.
        for points in zip(*(finding.points for finding in findings if finding), strict=True):
            rows.append([points[0].claim, *(point.verdict.word for point in points)])
    yield from ("", "## On every run", "", table(["claim", *done], rows), "")


def _blocks(results: Results) -> Iterator[str]:
    """Which blocks of the network carry its kernel: no claim of the paper's."""
    name = BLOCKS.format(results.datasets[0])
    here = results.page(name)
    if here is None:
        yield from (f"### {name}", "", "*Not finished.*")
        return
    numbers, (shares, between) = layers.numbers(here), layers.panels(here)
    yield from (f"### {name}", "", f"{shares.read} {between.read} Ridge {here.view.ridge:g}.", "", COLUMNS, "")
    yield table(list(numbers.columns), numbers.to_numpy().tolist())


def _rules() -> list[str]:
    rows = [[rule.__name__.replace("_", " "), (rule.__doc__ or "").splitlines()[0]] for rule in RULES]
    return ["## Rules", "", "A verdict is *Same* where its rule holds.", "", table(["rule", "holds if"], rows)]


def _slug(name: str) -> str:
    return "".join(letter if letter.isalnum() else "-" for letter in name.lower())
