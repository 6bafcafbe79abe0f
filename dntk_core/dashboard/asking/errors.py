"""Test inputs behind a score: misclassified, where kernel and network disagree, or furthest off."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import streamlit as st

from dntk_core.dashboard.choices.mixing import current_mixing
from dntk_core.dashboard.choices.picks import Pick, pick
from dntk_core.dashboard.choices.view import View
from dntk_core.dashboard.drawing.inputs import show_inputs
from dntk_core.dashboard.drawing.metrics import METRICS, words
from dntk_core.dashboard.drawing.palette import ORANGE, VERMILION
from dntk_core.dashboard.page import Page
from dntk_core.distill import METHODS, Mixing
from dntk_core.kernels.modes import Modes
from dntk_core.readout.ridge import READOUTS, predict
from dntk_core.run.live import Live

# Who is judged.
SIDES = {"distilled": "the distilled set", "full": "the full kernel", "network": "the network"}
# What a list of errors is called, by its score.
LISTS = {"accuracy": "Misclassified by", "fidelity": "Disagreements with the network of"}
MOST = 60
# Sides that are kernels of one rank.
RANK = "rank"


@dataclass(frozen=True)
class Errors:
    """Test inputs behind a score, worst first.

    index:   (n,)  which test inputs
    choice:  (t,)  what the one who is judged says of every test input
    network: (t,)  what the network says
    labels:  (t,)
    """

    index: np.ndarray
    choice: np.ndarray
    network: np.ndarray
    labels: np.ndarray

    def of_class(self, c: int) -> np.ndarray:
        """Those with label c."""
        return self.index[self.labels[self.index] == c]


def of_set(metric: str, method: str, size: int, by: str = "paper") -> Pick:
    """The list behind a score of the first `size` gradients of a method in one readout."""
    side = f"{method.replace(' ', '_')}:{size}"
    return Pick("errors", (metric, side if by == "paper" else f"{side}:{by}"))


def mixed_by(live: Live, view: View, side: str) -> tuple[Mixing | None, str] | None:
    """The gradients that a side fits, None for all of them, and its readout; nothing if there is no such side."""
    if side == "full":
        return None, "paper"
    if side == "distilled":
        return current_mixing(live, view), view.readout
    method, size, by = _read(side)
    if method not in METHODS or by not in READOUTS or not _counts(size, len(live.problem.targets)):
        return None
    return live.distil(method, int(size), view.ridge), by


def _read(side: str) -> tuple[str, str, str]:
    """A side's name, its number and its readout."""
    name, size, by = (*side.replace("_", " ").split(":"), "", "")[:3]
    return name, size, by or "paper"


def _counts(text: str, most: int) -> bool:
    """Whether a text is a number from 1 to `most`."""
    return text.isdecimal() and 1 <= int(text[:9]) <= most


def called(side: str) -> str:
    """A side in words.

    >>> called("full"), called("kernel_PCA:5"), called("rank:12")
    ('the full kernel', '5 gradients by kernel PCA', 'kernels of rank 12')
    """
    name, size, by = _read(side)
    fitted = "" if by == "paper" else f", fitted to {READOUTS[by].title}"
    return SIDES.get(side) or (f"kernels of rank {size}" if name == RANK else f"{size} gradients by {name}{fitted}")


def predictions(live: Live, view: View, side: str) -> np.ndarray | None:
    """What one side says of the test inputs, (t, C); None if there is no such side."""
    problem, (name, size, _) = live.problem, _read(side)
    if side == "network":
        return problem.logits
    if name == RANK:
        return of_rank(live, int(size), view.ridge) if _counts(size, len(problem.targets)) else None
    found = mixed_by(live, view, side)
    if found is None:
        return None
    mixing, by = found
    return live.remember(
        ("predictions", mixing, view.ridge, by),
        lambda: predict(problem.kernels, problem.targets, mixing, view.ridge, by),
    )


def of_rank(live: Live, rank: int, ridge: float) -> np.ndarray:
    """What the best kernels of a rank predict, Σ_{j≤r} u_jᵀy/(σ_j + λ) K* u_j: (t, C)."""

    def one(modes: Modes) -> np.ndarray:
        weights = modes.load / (modes.values + live.lam(ridge))
        return modes.predict((weights * (np.arange(len(weights)) < rank))[:, None])[:, 0]

    return live.remember((RANK, rank, ridge), lambda: np.stack([one(modes) for modes in live.modes()], axis=1))


def errors(live: Live, view: View, metric: str, side: str) -> Errors | None:
    """The test inputs that cost one side its score; None if there is no such side."""
    predicted = predictions(live, view, side)
    return None if predicted is None else lost(metric, predicted, live.problem.logits, live.problem.labels)


def lost(metric: str, predicted: np.ndarray, logits: np.ndarray, labels: np.ndarray) -> Errors:
    """The inputs that cost predictions (n, C) a score; of a score that is no share, all by their squared error."""
    choice, network = predicted.argmax(axis=1), logits.argmax(axis=1)
    squares = np.mean((predicted - logits) ** 2, axis=1)
    wrong = {"accuracy": choice != labels, "fidelity": choice != network}.get(metric, squares > 0)
    index = np.flatnonzero(wrong)
    # How sure it was of the wrong class; of a score that is no share, how far off.
    top = np.partition(predicted, -2, axis=1)[:, -2:] if predicted.shape[1] > 1 else np.zeros((len(predicted), 2))
    worst = top[:, 1] - top[:, 0] if METRICS[metric].share else squares
    return Errors(index[np.argsort(-worst[index], kind="stable")], choice, network, labels)


def open_errors(here: Page, found: Pick) -> str:
    """List them by class."""
    metric, side = (*found.parts, "")[:2]
    result = errors(here.live, here.view, metric, side) if metric in METRICS else None
    if result is None:
        st.caption("There is no such list.")
        return "Errors"
    show_errors(here, result, metric, side)
    return titled(metric, side)


def show_errors(
    here: Page, result: Errors, metric: str, name: str, split: str = "test", order: str = "the surest first"
) -> None:
    """A list of errors with a choice of classes.

    name: tells it from other lists; split: whose inputs they are; order: of those behind a share, in words
    """
    shown, names = result.index, here.run.class_names
    counts = {c: len(result.of_class(c)) for c in range(len(names)) if len(result.of_class(c))}
    t = len(result.labels)
    share = METRICS[metric].share
    if share and counts:
        every = -1
        options = [every, *sorted(counts, key=lambda c: -counts[c])]
        chosen = st.pills(
            "Label",
            options,
            default=every,
            format_func=lambda c: f"all ({len(shown)})" if c == every else f"{names[c]} ({counts[c]})",
            key=f"errors_{metric}_{name}",
            label_visibility="collapsed",
            required=True,
        )
        shown = shown if chosen == every else result.of_class(chosen)
    sentence = (
        f"{len(shown)} of {t:,} {split} inputs, {order}." if share else f"The {split} inputs furthest off, worst first."
    )
    st.caption(f"{sentence} Orange: the network is right, kernel and network disagree. Red: the network is wrong too.")
    notes, colours = [], []
    for i in shown[:MOST]:
        says, network = names[result.choice[i]], names[result.network[i]]
        agree = result.choice[i] == result.network[i]
        notes.append(f"says {says}" if agree else f"says {says}, net {network}")
        colours.append(VERMILION if result.network[i] != result.labels[i] else "" if agree else ORANGE)
    index = [int(i) for i in shown[:MOST]]
    kind = "test" if split == "test" else "input"
    show_inputs(here.run, split, index, notes, colours, key="opened_inputs", on_click=lambda i: pick(Pick.of(kind, i)))
    if len(shown) > MOST:
        st.caption(f"{MOST} of {len(shown):,} are shown.")


def titled(metric: str, side: str) -> str:
    """What a list is called.

    >>> titled("accuracy", "full")
    'Misclassified by the full kernel'
    """
    return f"{LISTS.get(metric, f'Largest {words(METRICS[metric])} of')} {called(side)}"


def choose_errors(found: Pick | None, sides: Sequence[str] = ("distilled", "full", "network"), of: str = "") -> None:
    """Let a person open the list behind a score.

    found: what is open
    of:    which of two pages it is about, where there are two
    """
    options = [Pick("errors", (metric, side)) for metric in LISTS for side in sides]
    options = [each for each in options if each.parts != ("fidelity", "network")]
    key = f"errors_behind{of}"
    st.session_state[key] = found if found in options else None
    st.selectbox(
        f"Test inputs behind a score{of and f' of {of}'}",
        options,
        format_func=lambda each: titled(*each.parts),
        index=None,
        placeholder="Choose a list",
        key=key,
        on_change=lambda: pick(st.session_state[key], of or None),
    )
