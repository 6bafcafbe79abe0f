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
from dntk_core.readout.ridge import predict
from dntk_core.run.live import Live

# Who is judged.
SIDES = {"distilled": "the distilled set", "full": "the full kernel", "network": "the network"}
# What a list of errors is called, by its score.
LISTS = {"accuracy": "Misclassified by", "fidelity": "Disagreements with the network of"}
MOST = 60


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


def of_set(metric: str, method: str, size: int) -> Pick:
    """The list behind a score of the first `size` gradients of a method, fitted to their averaged targets."""
    return Pick("errors", (metric, f"{method.replace(' ', '_')}:{size}"))


def mixed_by(live: Live, view: View, side: str) -> tuple[Mixing | None, str] | None:
    """The gradients that a side fits, None for all of them, and its readout; nothing if there is no such side."""
    if side == "full":
        return None, "paper"
    if side == "distilled":
        return current_mixing(live, view), view.readout
    method, _, size = side.replace("_", " ").partition(":")
    if method not in METHODS or not size.isdecimal() or not 1 <= int(size[:9]) <= len(live.problem.targets):
        return None
    return live.distil(method, int(size), view.ridge), "paper"


def called(side: str) -> str:
    """A side in words.

    >>> called("full"), called("kernel_PCA:5")
    ('the full kernel', '5 gradients by kernel PCA')
    """
    method, _, size = side.replace("_", " ").partition(":")
    return SIDES.get(side, f"{size} gradients by {method}")


def predictions(live: Live, view: View, side: str) -> np.ndarray:
    """What one side says of the test inputs, (t, C)."""
    problem = live.problem
    found = None if side == "network" else mixed_by(live, view, side)
    if found is None:
        return problem.logits
    mixing, by = found
    return live.remember(
        ("predictions", mixing, view.ridge, by),
        lambda: predict(problem.kernels, problem.targets, mixing, view.ridge, by),
    )


def errors(live: Live, view: View, metric: str, side: str) -> Errors:
    """The test inputs that cost one side its score; of a score that is no share, all by their squared error."""
    problem = live.problem
    predicted = predictions(live, view, side)
    choice, network = predicted.argmax(axis=1), problem.logits.argmax(axis=1)
    squares = np.mean((predicted - problem.logits) ** 2, axis=1)
    wrong = {"accuracy": choice != problem.labels, "fidelity": choice != network}.get(metric, squares > 0)
    index = np.flatnonzero(wrong)
    # How sure it was of the wrong class; of a score that is no share, how far off.
    top = np.partition(predicted, -2, axis=1)[:, -2:] if predicted.shape[1] > 1 else np.zeros((len(predicted), 2))
    worst = top[:, 1] - top[:, 0] if METRICS[metric].share else squares
    return Errors(index[np.argsort(-worst[index], kind="stable")], choice, network, problem.labels)


def open_errors(here: Page, found: Pick) -> str:
    """List them by class."""
    metric, side = (*found.parts, "")[:2]
    if metric not in METRICS or (side != "network" and mixed_by(here.live, here.view, side) is None):
        st.caption("There is no such list.")
        return "Errors"
    result = errors(here.live, here.view, metric, side)
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
            key=f"errors_{metric}_{side}",
            label_visibility="collapsed",
            required=True,
        )
        shown = shown if chosen == every else result.of_class(chosen)
    sentence = (
        f"{len(shown)} of {t:,} test inputs, the surest first."
        if share
        else "The test inputs furthest off, worst first."
    )
    st.caption(f"{sentence} Orange: the network is right, kernel and network disagree. Red: the network is wrong too.")
    notes, colours = [], []
    for i in shown[:MOST]:
        says, network = names[result.choice[i]], names[result.network[i]]
        agree = result.choice[i] == result.network[i]
        notes.append(f"says {says}" if agree else f"says {says}, net {network}")
        colours.append(VERMILION if result.network[i] != result.labels[i] else "" if agree else ORANGE)
    index = [int(i) for i in shown[:MOST]]
    show_inputs(
        here.run, "test", index, notes, colours, key="opened_inputs", on_click=lambda i: pick(Pick.of("test", i))
    )
    if len(shown) > MOST:
        st.caption(f"{MOST} of {len(shown):,} are shown.")
    return titled(metric, side)


def titled(metric: str, side: str) -> str:
    """What a list is called.

    >>> titled("accuracy", "full")
    'Misclassified by the full kernel'
    """
    return f"{LISTS.get(metric, f'Largest {words(METRICS[metric])} of')} {called(side)}"


def choose_errors(found: Pick | None, sides: Sequence[str] = ("distilled", "full", "network"), of: str = "") -> None:
    """Let a person open the list behind a score.

    found: what is open
    of:    which of two pages it is about, where there are two; its name stands in the pick
    """
    named = (of,) if of else ()
    options = [Pick("errors", (metric, side, *named)) for metric in LISTS for side in sides]
    options = [each for each in options if each.parts[:2] != ("fidelity", "network")]
    key = f"errors_behind{of}"
    st.session_state[key] = found if found in options else None
    st.selectbox(
        f"Test inputs behind a score{of and f' of {of}'}",
        options,
        format_func=lambda each: titled(*each.parts[:2]),
        index=None,
        placeholder="Choose a list",
        key=key,
        on_change=lambda: pick(st.session_state[key]),
    )
