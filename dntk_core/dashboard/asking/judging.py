"""Inputs that are doubted alike, labels that are outvoted alike, kernel inputs that all others get wrong."""

import numpy as np
import streamlit as st

from dntk_core.dashboard.asking.errors import lost, mixed_by, show_errors, titled
from dntk_core.dashboard.asking.testing import MOST, show_listed
from dntk_core.dashboard.choices.picks import Pick, pick
from dntk_core.dashboard.drawing.inputs import show_images, show_inputs
from dntk_core.dashboard.drawing.metrics import METRICS
from dntk_core.dashboard.drawing.palette import BLUE, VERMILION
from dntk_core.dashboard.figures.uncertainty import common_bins
from dntk_core.dashboard.page import Page
from dntk_core.dashboard.sections import health, uncertainty


def open_spread(here: Page, found: Pick) -> str:
    """The inputs of one bar of a histogram of doubt."""
    which, side, place = (*found.parts, "", "", "")[:3]
    both = uncertainty.spread(here, which)
    bins = None if both is None else common_bins(both.clean, both.others)
    b = Pick("spread", (place,)).place("spread", 0 if bins is None else len(bins) - 1)
    if both is None or bins is None or b is None:
        st.caption("There is no such bar here.")
        return "Doubt"
    values = both.clean if side == "test" else both.others
    inside = np.flatnonzero(np.clip(np.digitize(values, bins) - 1, 0, len(bins) - 2) == b)
    inside = inside[np.argsort(-values[inside], kind="stable")]
    notes = [f"±{values[i]:.3g}" for i in inside]
    if side == "test":
        show_listed(here, both.index[inside], notes)
    else:
        st.caption(f"{len(inside):,} of {len(values):,} inputs, the most doubtful first.")
        show_images(both.images[both.first + inside[:MOST]], notes[:MOST], both.name, key="opened_images")
    who = "test inputs" if side == "test" else both.name
    return f"Deviation of {bins[b]:.3g} to {bins[b + 1]:.3g}: {who}"


def open_labels(here: Page, found: Pick) -> str:
    """Kernel inputs by how far their labels are outvoted, from one of them on."""
    suspected = health.suspicious(here)
    first = found.place("labels", len(suspected.order))
    if first is None:
        st.caption(f"There is no such label: there are {len(suspected.order):,}.")
        return "Labels"
    shown = suspected.order[first : first + health.SHOWN].tolist()
    st.caption("Below each its margin and, where it is outvoted, what the others vote for. Click one to open it.")
    frames = [VERMILION if suspected.margin[i] < 0 else BLUE for i in shown]
    show_inputs(
        here.run, "kernel", shown, health.notes(here, shown), frames, key="opened_inputs",
        on_click=lambda i: pick(Pick.of("input", i)),
    )  # fmt: skip
    return f"Labels from rank {first + 1:,} of {len(suspected.order):,} on"


def open_unseen(here: Page, found: Pick) -> str:
    """The kernel inputs behind a score of a readout that is fitted to all others."""
    metric, side = (*found.parts, "")[:2]
    mixed = mixed_by(here.live, here.view, side) if metric in METRICS else None
    if mixed is None:
        st.caption("There is no such list.")
        return "Left out"
    mixing, by = mixed
    run = here.run
    predicted = run.targets - health.insight(here).fit("logits", mixing, here.view.ridge, by).left_out
    show_errors(here, lost(metric, predicted, run.targets, run.train_labels), metric, f"unseen_{side}", "kernel")
    return f"Left out: {titled(metric, side).lower()}"
