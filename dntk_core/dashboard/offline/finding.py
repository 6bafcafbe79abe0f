"""What an experiment finds: claims of the paper beside our numbers, each with a verdict; pictures; tables."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dntk_core.dashboard.drawing import literal
from dntk_core.dashboard.drawing.metrics import METRICS, of, written
from dntk_core.dashboard.drawing.panel import Panel
from dntk_core.dashboard.offline.verdicts import Verdict
from dntk_core.dashboard.page import Page
from dntk_core.readout.curves import Curve
from dntk_core.readout.intervals import mean_interval
from dntk_core.run.live import Live

EPSILON, CLUSTERS = 0.05, 10
# Clusterings and draws that intervals are taken over.
SEEDS = range(5)


@dataclass(frozen=True)
class Point:
    """One claim: what the paper says, what was found here, and the verdict."""

    claim: str
    paper: str
    ours: str
    verdict: Verdict

    @property
    def row(self) -> list[str]:
        """For the table of claims."""
        why = f": {self.verdict.why}" if self.verdict.why else ""
        return [self.claim, self.paper, self.ours, f"**{self.verdict.word}**{why}"]


@dataclass(frozen=True)
class Finding:
    """One experiment on one run: its claims, its pictures, its numbers as Markdown."""

    points: tuple[Point, ...]
    panels: tuple[Panel, ...] = ()
    numbers: str = ""


def table(header: Sequence[str], rows: Sequence[Sequence]) -> str:
    """Markdown."""
    lines = [" | ".join(map(str, row)) for row in (header, ["---"] * len(header), *rows)]
    return "\n".join(f"| {line} |" for line in lines)


def over_seeds(values: Sequence[float], form: str = ".1%", of: str = "seeds") -> str:
    """A mean with its 95 % interval over seeds, or over what else the values are of."""
    mean, low, high = mean_interval(values)
    ends = f"{format(low, form).removesuffix('%')}–{format(high, form)}"
    return f"{format(mean, form)} ({ends} over {len(values)} {of})"


def span(values: Sequence[float], form: str = ".1%") -> str:
    """The least and the most."""
    return f"{format(min(values), form).removesuffix('%')}–{format(max(values), form)}"


def classes(here: Page) -> list[str]:
    """The classes' names, for a table."""
    return [literal.markdown(name) for name in here.run.class_names]


def changed(here: Page, **changes: Any) -> Page:
    """The page at other settings."""
    return Page(here.run, here.live, here.view.replace(**changes), here.link)


def clusterings(here: Page) -> list[Page]:
    """The page by its own clusters, and by those of other seeds of k-means."""
    others = here.live.remember(("clusterings",), lambda: [Live(here.live.problem, seed) for seed in SEEDS[1:]])
    return [here, *(Page(here.run, live, here.view, here.link) for live in others)]


def scores(here: Page, curve: Curve, i: int) -> list[str]:
    """Every score of a curve at one place."""
    t = len(here.live.problem.labels)
    return [written(metric, float(of(curve, name)[i]), t) for name, metric in METRICS.items()]


def share(here: Page, value: float, metric: str = "accuracy") -> str:
    """A share of the test inputs with its interval."""
    return written(METRICS[metric], float(value), len(here.live.problem.labels))
