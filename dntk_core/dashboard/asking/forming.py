"""A series, opened: a checkpoint's numbers, a cluster or two inputs of the last kernel as they came to be alike."""

from collections.abc import Callable

import numpy as np
import pandas as pd
import streamlit as st

from dntk_core.base.numbering import number
from dntk_core.dashboard.choices.kernel import chosen_class
from dntk_core.dashboard.choices.picks import Pick, pick
from dntk_core.dashboard.drawing.inputs import show_inputs
from dntk_core.dashboard.drawing.plot import plot
from dntk_core.dashboard.figures.mix import class_mix
from dntk_core.dashboard.page import Page
from dntk_core.dashboard.sections import training
from dntk_core.run.progression import Progression

# Inputs that are shown of a cluster.
EXEMPLARS = 24


def open_checkpoint(here: Page, found: Pick) -> str:
    """The numbers of one checkpoint, and the page that shows its kernel."""
    series = training.shown(here)
    t = None if series is None else found.place("checkpoint", len(series.runs))
    if series is None or t is None:
        return _nothing()
    view, c, label = here.view, chosen_class(here.view), series.series.labels[t]
    fits, aligned = series.fits(view.ridge), series.alignment(c)
    row = {
        "network": f"{fits.network[t]:.1%}",
        "kernel": f"{fits.accuracy[t]:.1%}",
        "fidelity": f"{fits.own[t]:.1%}",
        "gradient norm": f"{series.traces(c)[t]:.3g}",
        f"rank at ε = {view.epsilon:g}": f"{series.ranks(c, view.epsilon)[t]}",
        "CKA to the last": f"{series.cka(c)[-1, t]:.3f}",
        "alignment with labels": f"{aligned[1, t]:.2f}",
    }
    st.dataframe(pd.DataFrame([row]), hide_index=True)
    there = {**here.link, "checkpoint": label, "series": series.series.key}
    st.page_link(
        "pages/12_Training.py", label="Look at its kernel", query_params=there, icon=":material/arrow_forward:"
    )
    return label.capitalize()


def open_formed(here: Page, found: Pick) -> str:
    """A cluster of the last kernel: its classes, its inputs, and how alike they were at every checkpoint."""
    series = training.shown(here)
    labels = None if series is None else training.last_clusters(here, series)
    h = None if labels is None else found.place("formed", int(labels.max()) + 1)
    if series is None or labels is None or h is None:
        return _nothing()
    members = np.flatnonzero(labels == h)
    st.caption(f"{len(members):,} inputs. Their mean cosine with each other at every checkpoint:")
    _over(here, series, lambda cosines: _mean_pair(cosines[np.ix_(members, members)]))
    run, inputs = series.runs[-1], series.across.likeness.inputs[members]
    shares = np.bincount(run.train_labels[inputs], minlength=len(run.class_names)) / len(inputs)
    left, right = st.columns([1, 2], gap="medium")
    with left:
        plot(class_mix(shares, run.class_names, "the inputs"), key="opened_mix", title="Classes", read="")
    with right:
        _show(here, series, inputs[:EXEMPLARS])
    return f"Cluster {number(h)} of the last kernel"


def open_forming(here: Page, found: Pick) -> str:
    """Two inputs, and the cosine of their gradients at every checkpoint."""
    series = training.shown(here)
    count = 0 if series is None else len(series.across.likeness.inputs)
    ends = [Pick("forming", (part,)).place("forming", count) for part in found.parts[:2]]
    if series is None or len(ends) < 2 or None in ends:
        return _nothing()
    i, j = (int(end) for end in ends if end is not None)
    st.caption("The cosine of their gradients at every checkpoint:")
    _over(here, series, lambda cosines: float(cosines[i, j]))
    inputs = series.across.likeness.inputs[[i, j]]
    _show(here, series, inputs)
    return f"Inputs {number(int(inputs[0]))} and {number(int(inputs[1]))}"


def _over(here: Page, series: Progression, value: Callable[[np.ndarray], float]) -> None:
    """One number per checkpoint, of the cosines of the chosen kernel, as a row."""
    c, row = chosen_class(here.view), {}
    for t, label in enumerate(series.series.labels):
        kernel = series.kernel(t, c).matrix
        norms = np.sqrt(np.clip(np.diag(kernel), np.finfo(float).tiny, None))
        row[label] = f"{value(kernel / np.outer(norms, norms)):.2f}"
    st.dataframe(pd.DataFrame([row]), hide_index=True)


def _mean_pair(cosines: np.ndarray) -> float:
    """The mean over pairs of different inputs; of a single input 1."""
    n = len(cosines)
    return float((cosines.sum() - np.trace(cosines)) / (n * (n - 1))) if n > 1 else 1.0


def _show(here: Page, series: Progression, inputs: np.ndarray) -> None:
    """Inputs of the series; those of the open run can be opened."""
    run = series.runs[-1]
    notes = [f"input {number(int(i))}" for i in inputs]
    known = run.spec.stage_key("inputs") == here.run.spec.stage_key("inputs")
    click = (lambda i: pick(Pick.of("input", i))) if known else None
    show_inputs(run, "kernel", [int(i) for i in inputs], notes, key="opened_inputs", on_click=click)


def _nothing() -> str:
    st.caption("There is no such thing in this series.")
    return "Series"
