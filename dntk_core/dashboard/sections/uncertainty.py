"""Uncertainty: how sure network and kernels are, and whether that can be trusted."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from dntk_core.base.numbering import FIRST, number
from dntk_core.cache.artifact import Artifact
from dntk_core.cache.rows import Array
from dntk_core.dashboard.choices.mixing import USES as MIXING
from dntk_core.dashboard.choices.mixing import current_distillation, current_mixing
from dntk_core.dashboard.choices.picks import Pick
from dntk_core.dashboard.drawing import literal
from dntk_core.dashboard.drawing.metrics import power
from dntk_core.dashboard.drawing.panel import Panel
from dntk_core.dashboard.drawing.recipe import mixing_call
from dntk_core.dashboard.figures import uncertainty as figures
from dntk_core.dashboard.page import Page
from dntk_core.data.inputs import IMAGE
from dntk_core.data.shifts import STRENGTHS
from dntk_core.readout.leave_one_out import RIDGES
from dntk_core.run.also import added
from dntk_core.run.asked import known
from dntk_core.run.doubt import (
    DISTILLED,
    FULL,
    NETWORK,
    Beliefs,
    Doubt,
    Shifted,
    foreign,
    judged,
    shifted,
    told_apart,
)
from dntk_core.run.insight import Insight
from dntk_core.uses.calibration import BINS, JUDGEMENTS, bins_of
from dntk_core.uses.uncertainty import NOISES

TITLE = "Uncertainty"
# The noise brings its own ridge.
USES = tuple(name for name in MIXING if name != "ridge")
# What histograms are of.
DEVIATION = f"{FULL}, deviation"
CLICK = "Click a bar for its inputs."
TRUST = r"""
The readout as a **Gaussian process** with prior $\tau^2K^c$ and noise $\tau^2\lambda$: mean the ridge readout,
variance $\sigma^2=\tau^2\big(K^c(x,x)-k_*^\top(K^c+\lambda I)^{-1}k_*\big)$. A **distilled** kernel has seen no more
than $A(y+\varepsilon)$, so $\sigma^2=\tau^2\big(K^c(x,x)-k_*^\top A^\top(A(K^c+\lambda I)A^\top)^{-1}Ak_*\big)$,
never below the full one. $\tau^2$ and $\lambda$ follow from the kernel inputs alone, by marginal likelihood or by the
density of each target given all others. Probabilities are $\mathrm{softmax}(\mu/\sqrt{1+\pi\sigma^2/8})$. **Network,
kernel's doubt** takes the network's logits as $\mu$. **Temperature** $T$ of $\mathrm{softmax}(f/T)$ is fitted to the
labels of the kernel inputs, each predicted by all others; no test data.

**Reliability**: inputs in 15 bins of the chosen class's probability; on the diagonal it is kept. **Calibration
error** is the mean distance from it. **NLL** is $-\log p$ of the label, **Brier** $\sum_c(p_c-1_c)^2$. **Rejection**:
inputs are refused, those first of whose network's choice a predictor thinks least, $1-p$; *deviation* is the mean of
$\sigma$ over logits. **AUROC of errors**: how well that doubt finds the network's own errors; 0.5 is chance.
"""
SHIFT = r"""
Up to 100 test inputs, spread evenly, are changed more and more: noise (+0.08 of standard deviation a step), blur (2.5 %
of the side), contrast (18 % towards the mean), rotation (15°). **Right, alike**: the network's accuracy, and the share
where the full kernel still chooses as the network does. **Doubt**: the mean over inputs, as a multiple of that of the
inputs as they are. **AUROC**: how well doubt tells changed inputs from the same ones unchanged.
"""
OTHERS = r"""
The same network and projection, other inputs $x$: $\sigma^2=\tau^2\big(K^c(x,x)-k_*^\top(K^c+\lambda I)^{-1}k_*\big)$,
its root averaged over classes. **AUROC**: the probability that one of the others is doubted more than a test input; 0.5
is chance, 1 tells them apart without error.
"""


@dataclass(frozen=True)
class Spread:
    """Deviations of test inputs against those of others.

    clean:  (n,)  of test inputs; index: (n,) which they are
    others: (q,)  of the others, which `name` names; their images begin at `first` among `images`
    """

    clean: np.ndarray
    others: np.ndarray
    index: np.ndarray
    images: Array
    first: int
    name: str


def doubt(here: Page, choose: str) -> Doubt:
    """The run asked how sure it is, by the distilled set on screen."""
    return Doubt(Insight(here.run, here.live), current_mixing(here.live, here.view), choose, here.view.readout)


def panels(here: Page, choose: str = "marginal likelihood") -> tuple[Panel]:
    """Reliability and rejection."""
    asked, labels = doubt(here, choose), here.run.test_labels
    found = judged(asked.test(), labels)
    end = {RIDGES[0]: ", the smallest tried", RIDGES[-1]: ", the largest tried"}.get(asked.ridge, "")
    read = (
        f"Calibration error {found[NETWORK]['ece']:.2%} by the network, {found[FULL]['ece']:.2%} by the full kernel, "
        f"{found[DISTILLED]['ece']:.2%} by the distilled one. Noise at ridge {power(asked.ridge)}{end}; temperature "
        f"{asked.temperature:.2f}."
    )
    return (Panel("uncertainty_trust", figures.diagram(asked.test(), labels), "Can it be trusted?", read, TRUST),)


def numbers(here: Page, choose: str) -> pd.DataFrame:
    """Every predictor's judgements."""
    found = judged(doubt(here, choose).test(), here.run.test_labels)
    rows = []
    for name, row in found.items():
        shown = {one.title: format(row[key], one.format) if key in row else "–" for key, one in JUDGEMENTS.items()}
        # A network without errors has none to find.
        errors = "–" if np.isnan(row["errors"]) else f"{row['errors']:.3f}"
        rows.append({"predictor": name, **shown, "AUROC of errors": errors})
    return pd.DataFrame(rows)


def shift_panels(here: Page, choose: str, artifact: Artifact, name: str, strength: int) -> tuple[Panel, Panel]:
    """One shift over its strengths, and the doubt at one of them."""
    moved, every = under(here, choose, artifact, name)
    clean, at = every[0].doubt[DEVIATION], every[strength].doubt[DEVIATION]
    apart, grown = moved.apart[DEVIATION][strength], moved.doubt[DEVIATION][-1] / moved.doubt[DEVIATION][0]
    return (
        Panel(
            "uncertainty_shift",
            figures.over_strength(moved),
            f"Under {name}",
            f"From strength 0 to 5 the network's accuracy goes from {moved.accuracy[0]:.0%} to "
            f"{moved.accuracy[-1]:.0%} on {len(clean)} of the test inputs; the full kernel's deviation grows "
            f"{grown:.1f} times.",
            SHIFT,
        ),
        Panel(
            "uncertainty_histogram",
            figures.histograms(clean, at, "deviation of a logit by the full kernel", f"{name}, strength {strength}"),
            f"Doubt at strength {strength}",
            f"The full kernel's deviation tells both apart with an AUROC of {apart:.3f}.",
            SHIFT,
            CLICK,
        ),
    )


def under(here: Page, choose: str, artifact: Artifact, name: str) -> tuple[Shifted, list[Beliefs]]:
    """One shift over its strengths, and what is believed at each."""
    return here.live.remember(
        ("shifted", choose, name, current_mixing(here.live, here.view), here.view.readout),
        lambda: shifted(doubt(here, choose), artifact, name),
    )


def spread(here: Page, which: str) -> Spread | None:
    """Both sides of the histogram of a shift, or of a set that was added; None if there is none such."""
    choose = here.link.get("noise", next(iter(NOISES)))
    tests = doubt(here, choose).test().doubt[DEVIATION]
    if which == "histogram":
        name, strength = here.link.get("shift", ""), here.link.get("strength", "")
        artifact = known(here.run, "shifts")
        if artifact is None or name not in artifact.note["names"] or strength not in map(str, STRENGTHS):
            return None
        moved, every = under(here, choose, artifact, name)
        at, index = int(strength), np.array(artifact["index"])
        others, first = every[at].doubt[DEVIATION], moved.places[at - 1]
        return Spread(tests[index], others, index, artifact.rows("images"), first, f"{name}, strength {at}")
    for place, (name, artifact) in enumerate(added(here.run).items()):
        if which == f"also_{place}":
            others = foreign(doubt(here, choose), artifact).doubt[DEVIATION]
            return Spread(tests, others, np.arange(len(tests)), artifact.rows("images"), 0, name)
    return None


def foreign_panels(here: Page, choose: str) -> list[Panel]:
    """Every set that was added to the run, against the test inputs."""
    asked, shown = doubt(here, choose), []
    for place, (name, artifact) in enumerate(added(here.run).items()):
        others = foreign(asked, artifact).doubt[DEVIATION]
        apart = told_apart(asked, artifact)
        title = "deviation of a logit by the full kernel"
        figure = figures.histograms(asked.test().doubt[DEVIATION], others, title, literal.plotly(name))
        read = (
            f"{len(others):,} other inputs. AUROC of telling them from the test inputs: {apart[DEVIATION]:.3f} by the "
            f"full kernel's deviation, {apart[NETWORK]:.3f} by the network's softmax."
        )
        shown.append(Panel(f"uncertainty_also_{place}", figure, f"Other inputs: {name}", read, OTHERS, CLICK))
    return shown


def foreign_ends(here: Page, choose: str, artifact: Artifact) -> tuple[np.ndarray, np.ndarray]:
    """The order of an added set's inputs, the least certain by the full kernel first, and all their deviations."""
    deviation = foreign(doubt(here, choose), artifact).deviation[FULL]
    return np.argsort(-deviation, kind="stable"), deviation


def adding(here: Page) -> str:
    """How other inputs come to stand beside a run's own."""
    if here.run.kind != IMAGE:
        return ""
    return (
        "Other images can be set against the test inputs. A folder of them, or an .npz file with an array `images`, is "
        f"added by `python -m dntk_core uncertainty --run {here.run.key} --also NAME=PATH`."
    )


def pick_at(here: Page, panel: str, point: dict) -> Pick:
    """The inputs behind a point: a bin of a diagram or a histogram, or all that are rejected so far."""
    who = str(point["series"]).replace(" ", "_")
    if panel.startswith("uncertainty_also_") or panel == "uncertainty_histogram":
        which, (side, place) = panel.removeprefix("uncertainty_"), point["customdata"]
        return Pick("spread", (which, side, str(place)))
    if point["axis"] == "x":
        return Pick("doubted", (who, "bin", str(int(point["customdata"][0]) + FIRST)))
    return Pick("doubted", (who, "first", str(round(point["x"] * len(here.run.test_labels)))))


def doubted(here: Page, parts: Sequence[str]) -> tuple[str, np.ndarray, list[str]] | None:
    """What a pick of doubted inputs is called, which they are, the most doubtful first, and a note on each."""
    who, how, place = (*parts, "", "", "")[:3]
    who, found = who.replace("_", " "), doubt(here, here.link.get("noise", next(iter(NOISES)))).test()
    if not place.isdecimal() or (who not in found.probabilities if how == "bin" else who not in found.doubt):
        return None
    if how == "bin":
        sure, b = found.probabilities[who].max(axis=1), int(place[:4]) - FIRST
        inside = np.flatnonzero(bins_of(found.probabilities[who]) == b)
        order = inside[np.argsort(sure[inside], kind="stable")]
        title = f"Chosen with a probability of {b / BINS:.0%} to {(b + 1) / BINS:.0%}: {who}"
        return title, order, [f"{number(i)} · {sure[i]:.1%}" for i in order.tolist()]
    order = np.argsort(-found.doubt[who], kind="stable")[: int(place[:9])]
    return f"Rejected first: {who}", order, [f"{number(i)} · {found.doubt[who][i]:.2g}" for i in order.tolist()]


def ends(here: Page, choose: str, count: int) -> tuple[list[int], list[int], np.ndarray]:
    """The test inputs that the full kernel is least and most certain of, and all deviations."""
    deviation = doubt(here, choose).test().deviation[FULL]
    order = np.argsort(-deviation, kind="stable")
    return order[:count].tolist(), order[::-1][:count].tolist(), deviation


def calls(here: Page, choose: str, shift: str | None) -> tuple[str, ...]:
    """The calls that give these numbers."""
    made = f"Doubt(Insight(run, live), {mixing_call(here)}, {choose!r}, {here.view.readout!r})"
    moved = (f"shifted({made}, ask(run, 'shifts'), {shift!r})[0]",) if shift else ()
    others = (f"{{name: told_apart({made}, each) for name, each in added(run).items()}}",) if added(here.run) else ()
    return (f"judged({made}.test(), run.test_labels)", *moved, *others)


def command(here: Page, choose: str, shift: str | None) -> str:
    """The command that prints these numbers."""
    words = current_distillation(here.live, here.view).command(here.run.key).replace(" evaluate ", " uncertainty ", 1)
    return f"{words} --noise '{choose}'{f' --shift {shift}' if shift else ''} --json"
