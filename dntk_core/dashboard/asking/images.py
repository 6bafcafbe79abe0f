"""What a click on Dataset distillation opens: images of a class, of a selection, or the heaviest of every class."""

import numpy as np
import pandas as pd
import streamlit as st

from dntk_core.base.numbering import number
from dntk_core.dashboard.choices.picks import Pick, pick
from dntk_core.dashboard.drawing import literal
from dntk_core.dashboard.drawing.inputs import show_inputs
from dntk_core.dashboard.page import Page
from dntk_core.dataset.sizes import even_order

MOST = 60


def open_class(here: Page, found: Pick) -> str:
    """The kernel inputs of a class, or of two, those first that stand for most, if they stand for others."""
    run = here.run
    classes = [Pick("class", (part,)).place("class", len(run.class_names)) for part in found.parts[:2]]
    if None in classes:
        st.caption(f"There is no such class: there are {len(run.class_names)}.")
        return "Class"
    for c in (each for each in classes if each is not None):
        members = _heaviest(here, np.flatnonzero(run.train_labels == c))
        right = float(np.mean(run.targets[members].argmax(axis=1) == c)) if len(members) else 0.0
        name = literal.markdown(run.class_names[c])
        st.caption(f"{len(members):,} kernel inputs of class {name}; the network takes {right:.1%} of them for it.")
        _shown(here, members, MOST // len(classes), key=f"opened_class_{c}")
    return " and ".join(f"class {run.class_names[c]}" for c in classes if c is not None).capitalize()


def open_heaviest(here: Page, found: Pick) -> str:
    """The first images of every class, as a curve over size takes them."""
    run = here.run
    count = found.place("heaviest", len(run.targets))
    if count is None or run.distillation is None:
        st.caption("There are no such images here.")
        return "Images"
    chosen = even_order(run.train_labels, np.array(run.distillation["weights"]))[: number(count)]
    st.caption("As many of every class, those that stand for most of it. Click one to open it.")
    _shown(here, chosen)
    return f"The heaviest {len(chosen)} images"


def open_selection(here: Page, found: Pick) -> str:
    """The images that a selection takes, and how much each stands for."""
    run, judged = here.run, here.run.judgements
    place = found.place("selection", len(judged))
    if place is None:
        st.caption(f"There is no such selection: {len(judged)} were judged.")
        return "Selection"
    name, names = judged[place].name, run.class_names
    selected = run.artifacts.get("selected")
    if selected is None or name not in selected.note["names"]:
        st.caption("These are the images of this run. Click one to open it.")
        _shown(here, _heaviest(here, np.arange(len(run.targets))))
        return f"Selection {name}"
    row = selected.note["names"].index(name)
    index, weights = np.array(selected["index"][row]), np.array(selected["weights"][row])
    classes = np.repeat(np.arange(len(names)), len(index) // len(names))
    st.caption(f"{len(index)} real images, numbered as the training set has them.")
    rows = {"class": [names[c] for c in classes], "training image": [number(int(i)) for i in index], "weight": weights}
    st.dataframe(pd.DataFrame(rows), hide_index=True, height=300)
    return f"Selection {name}"


def _heaviest(here: Page, members: np.ndarray) -> np.ndarray:
    made = here.run.distillation
    if made is None:
        return members
    return members[np.argsort(-np.array(made["weights"])[members], kind="stable")]


def _shown(here: Page, members: np.ndarray, most: int = MOST, key: str = "opened_inputs") -> None:
    run, made = here.run, here.run.distillation
    choices = [run.class_names[int(run.targets[i].argmax())] for i in members[:most]]
    notes = [f"network: {name}" for name in choices]
    if made is not None:
        notes = [f"{made['weights'][i]:.1%} of its class" for i in members[:most]]
    show_inputs(
        run, "kernel", [int(i) for i in members[:most]], notes, key=key,
        on_click=lambda i: pick(Pick.of("input", i)),
    )  # fmt: skip
    if len(members) > most:
        st.caption(f"{most} of {len(members):,} are shown.")
