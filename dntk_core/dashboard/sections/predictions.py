"""Predictions: what one of them is made of."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dntk_core.base.numbering import FIRST, number
from dntk_core.dashboard.choices.mixing import current_distillation, current_mixing
from dntk_core.dashboard.choices.picks import Pick
from dntk_core.dashboard.drawing.panel import Panel
from dntk_core.dashboard.drawing.recipe import mixing_call
from dntk_core.dashboard.figures import predictions as figures
from dntk_core.dashboard.page import Page
from dntk_core.run.insight import LABEL_RIDGE, Explanation, Insight
from dntk_core.uses.attribution import ATTRIBUTIONS

TITLE = "Predictions"
SPEAKERS = 8
FILTERS = {
    "all": "All",
    "wrong": "Network wrong",
    "disagree": "Kernel and network disagree",
    "uncertain": "Least certain",
}
LOGITS = r"""
What the network, the full kernel and the distilled one say of this input. With **logits** as targets the readout copies
the network: $f^c(x)=k^c(x)^\top\alpha^c$, $\alpha^c=(K^c+\lambda I)^{-1}y_c$, $y_c$ the network's outputs at the kernel
inputs. With **labels** $y_c$ is 1 where the label is $c$, else 0: then it says what the data did.
"""
SPEAKERS_SAID = r"""
What is explained is $\sum_cw_cf^c(x)$: one logit, or the lead of a class over another.

- **Contribution** of input $i$: $\sum_cw_cK^c(x,x_i)\,\alpha^c_i$. All of them add up to the prediction.
- **Leave-one-out effect**: by how much the prediction falls if the target of input $i$ is left out,
  $\sum_cw_c(Gk_*)_i\,\alpha_i/G_{ii}$ with $G=(K^c+\lambda I)^{-1}$, exact. Distilled: the
  gradients stay as they are.
- **TRAK**: $\phi_*^\top(\Phi^\top\Phi+\lambda I)^{-1}\Phi^\top Q$ with the gradients of margins, $Q=1-p$; one network.
- **Dot product**, **cosine**: of the margins' gradients.

Labels are attributed at ridge 3. On digits, ridges from 3 to 10 tell best what networks retrained on half of the data
do; the ridge with which labels predict each other best, 0.03, tells it worst.
"""
SYNTHETIC = r"""
A distilled readout is a sum over its $s$ gradients, $\sum_cw_c\sum_r\beta^c_r\,(Ak^c(x))_r$: bar $r$. Gradient $r$ is
mixed of inputs by row $r$ of $A$, so that bar splits further into $\sum_cw_c\beta^c_rA_{ri}K^c(x,x_i)$ per input $i$.
"""


@dataclass(frozen=True)
class Question:
    """What is asked of which test input."""

    input: int = 0
    c: int | None = None
    against: int | None = None
    targets: str = "logits"
    way: str = "contribution"
    distilled: bool = True


def insight(here: Page) -> Insight:
    """The run, asked what its kernel is for."""
    return Insight(here.run, here.live)


def ridge(here: Page, question: Question) -> float:
    """The sidebar's for logits, the one that attributes best for labels."""
    return here.view.ridge if question.targets == "logits" else LABEL_RIDGE


def explanation(here: Page, question: Question) -> Explanation:
    """The answer."""
    return insight(here).explain(
        question.input,
        question.c,
        question.against,
        targets=question.targets,
        way=question.way,
        ridge=ridge(here, question),
        mixing=current_mixing(here.live, here.view) if question.distilled else None,
        by=here.view.readout,
    )


def panels(here: Page, question: Question | None = None, found: Explanation | None = None) -> tuple[Panel, ...]:
    """Logits, speakers and, for a distilled readout, the synthetic gradients; `found` is the answer, if it is known."""
    question, run = question or Question(), here.run
    found = found or explanation(here, question)
    label = int(run.test_labels[question.input])
    adds_up, way = question.way == "contribution", ATTRIBUTIONS[question.way]
    shown = [
        Panel(
            "predictions_logits",
            figures.logits(found, run.class_names, label, question.targets == "labels"),
            f"Test input {number(question.input)}",
            summary_of(here, found),
            LOGITS,
        ),
        Panel(
            "predictions_speakers",
            figures.speakers(found, run.train_labels, run.class_names, SPEAKERS, way.title, adds_up),
            f"For and against: {goal_in_words(here, found)}",
            f"{way.title}: {way.summary}. Blue speaks for, orange against.",
            SPEAKERS_SAID,
        ),
    ]
    if found.synthetic is not None:
        titles = [row.kind for row in current_mixing(here.live, here.view).origin]
        shown.append(
            Panel(
                "predictions_synthetic",
                figures.synthetic(found.synthetic, titles, found.prediction),
                "Synthetic gradients at work",
                f"{len(titles)} gradients make this prediction; the strongest, number {strongest(found) + 1}, adds "
                f"{found.synthetic[strongest(found)]:.3g} of {found.prediction:.3g}.",
                SYNTHETIC,
            )
        )
    return tuple(shown)


def pick_at(here: Page, panel: str, point: dict) -> Pick | None:
    """The kernel input, or the synthetic gradient, that a bar stands for; of logits, the test input itself."""
    if panel == "predictions_logits":
        return Pick.of("test", Question().input)
    if panel == "predictions_synthetic":
        return Pick.of("gradient", round(point["x"]) - FIRST)
    (shown,) = point["customdata"]
    return Pick.of("input", int(shown) - FIRST) if shown else None


def strongest(found: Explanation) -> int:
    """The synthetic gradient that does most."""
    return 0 if found.synthetic is None else int(np.argmax(np.abs(found.synthetic)))


def behind(here: Page, question: Question, found: Explanation, row: int) -> np.ndarray:
    """What each kernel input adds through one synthetic gradient, (m,)."""
    mixing = current_mixing(here.live, here.view)
    return insight(here).behind(found, row, question.targets, mixing, ridge(here, question), here.view.readout)


def goal_in_words(here: Page, found: Explanation) -> str:
    """What is explained: a class, or two."""
    order = sorted(map(int, np.flatnonzero(found.goal)), key=lambda c: -found.goal[c])
    return " over ".join(here.run.class_names[c] for c in order)


def summary_of(here: Page, found: Explanation) -> str:
    """Who chooses which class."""
    names = here.run.class_names
    label = names[here.run.test_labels[found.input]]
    chosen = {"network": found.network, "full kernel": found.full, "distilled kernel": found.distilled}
    words = [f"{who} {names[int(values.argmax())]}" for who, values in chosen.items() if values is not None]
    return f"Its label is {label}; chosen by {', '.join(words)}."


def matching(here: Page, which: str, c: int | None = None) -> np.ndarray:
    """The test inputs that a filter leaves, (q,), the most telling first."""
    run = here.run
    network, kernel = run.test_logits, insight(here).predictions("logits", None, here.view.ridge)
    index = np.arange(len(run.test_labels))
    if which == "wrong":
        index = index[network.argmax(axis=1) != run.test_labels]
    elif which == "disagree":
        index = index[network.argmax(axis=1) != kernel.argmax(axis=1)]
    elif which == "uncertain":
        best = np.sort(kernel, axis=1)
        index = np.argsort(best[:, -1] - best[:, -2], kind="stable")
    return index if c is None else index[run.test_labels[index] == c]


def notes(here: Page, index: Sequence[int]) -> list[str]:
    """Below each test input: its number and, where the network is wrong, what it says."""
    names, network, labels = here.run.class_names, here.run.test_logits.argmax(axis=1), here.run.test_labels
    return [f"{number(i)}" + (f" · says {names[network[i]]}" if network[i] != labels[i] else "") for i in index]


def calls(here: Page, question: Question) -> tuple[str, ...]:
    """The call that gives these numbers."""
    mixing = mixing_call(here) if question.distilled else "None"
    return (
        f"Insight(run, live).explain({question.input}, {question.c}, {question.against}, targets={question.targets!r}, "
        f"way={question.way!r}, ridge={ridge(here, question)}, mixing={mixing}, by={here.view.readout!r})",
    )


def command(here: Page, question: Question) -> str:
    """The command that prints these numbers."""
    words = current_distillation(here.live, here.view).command(here.run.key)
    words = words.replace(" evaluate ", f" attribute {number(question.input)} ", 1)
    given = {"--class": question.c, "--against": question.against}
    more = [f"{name} {value}" for name, value in given.items() if value is not None]
    more += [f"--targets {question.targets}", f"--way '{question.way}'", *([] if question.distilled else ["--full"])]
    return f"{words} {' '.join(more)} --json"
