"""Choosing a test input and what to ask of it: a gallery with filters, a number, and the link."""

from functools import partial

import numpy as np
import streamlit as st

from dntk_core.base.numbering import FIRST, number
from dntk_core.dashboard.choices.kept import keep, recall
from dntk_core.dashboard.choices.tabs import tab
from dntk_core.dashboard.drawing import literal
from dntk_core.dashboard.drawing.inputs import show_inputs
from dntk_core.dashboard.page import Page
from dntk_core.dashboard.sections import predictions
from dntk_core.dashboard.sections.predictions import FILTERS, Question
from dntk_core.run.insight import TARGETS, Explanation
from dntk_core.uses.attribution import ATTRIBUTIONS

PER_PAGE = 24
# No class: all of them, the network's choice, or nothing to compare with.
NONE = "none"
STRONGEST = "strongest"
SHOWN = (
    "Kernel: the full one, a readout of the network's logits at the sidebar's ridge. Least certain: first those inputs "
    "whose largest logit by that readout leads the next one least."
)


def chosen_input(here: Page) -> int:
    """Let a person choose a test input; the link says which."""
    last = len(here.run.test_labels) - 1
    key = recall("input", partial(_read, last=number(last)), number(0))
    st.session_state[key] = min(st.session_state[key], number(last))
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        chosen = st.number_input("Test input", number(0), number(last), key=key, width=140, persist_state="session")
        which = tab(here, "filter", FILTERS, "all", "Show", partial(st.segmented_control, required=True, help=SHOWN))
        c = _class(here, "label", "Class", "any", width=160)
    keep(here.link, "input", str(chosen))
    with st.spinner("Reading out the kernel", show_time=True):
        index = predictions.matching(here, which, c)
    if len(index):
        pages = -(-len(index) // PER_PAGE)
        place = st.pagination(pages, key="prediction_page") if pages > 1 else 1
        shown = index[(place - 1) * PER_PAGE : place * PER_PAGE].tolist()
        show_inputs(
            here.run, "test", shown, predictions.notes(here, shown), key="predictions_gallery", on_click=_choose
        )
    else:
        st.caption("No test input is like this.")
    return int(chosen) - FIRST


def question_form(here: Page, index: int) -> Question:
    """Let a person choose what is explained, and how."""
    chosen = int(np.argmax(here.run.test_logits[index]))
    ways = {name: way.title for name, way in ATTRIBUTIONS.items()}
    difference = "logits explain the readout of the network, labels attribute to the data"
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        c = _class(here, "explain", "Explain", f"the network's choice, {here.run.class_names[chosen]}", width=220)
        against = _class(here, "against", "over", "nothing else", width=130, but=chosen if c is None else c)
        way = tab(here, "way", ways, label="by", draw=partial(st.selectbox, width=195))
        # Gradients of margins alone know nothing of what was fitted.
        without = not ATTRIBUTIONS[way].of_targets
        draw = partial(st.segmented_control, required=True, help=difference, disabled=without)
        targets = tab(here, "targets", TARGETS, "logits", "Targets", draw)
        through = tab(here, "through", ("distilled", "full"), label="Readout of")
    return Question(index, c, against, targets, way, through == "distilled")


def explain_class(point: dict) -> None:
    """Explain the class whose bar was clicked."""
    st.session_state["kept_explain"] = str(int(point["customdata"][0]))


def chosen_gradient(here: Page, found: Explanation) -> int:
    """Let a person choose one of the synthetic gradients at work."""
    most, size = predictions.strongest(found), 0 if found.synthetic is None else len(found.synthetic)
    rows = {STRONGEST: f"{number(most)}, the strongest"} | {str(number(row)): str(number(row)) for row in range(size)}
    row = tab(here, "gradient", rows, label="Inputs behind gradient", draw=partial(st.selectbox, width=220))
    return most if row == STRONGEST else int(row) - FIRST


def _class(here: Page, name: str, label: str, none: str, width: int, but: int | None = None) -> int | None:
    """Let a person choose a class, or none of them, which has words of its own."""
    classes = {str(c): title for c, title in enumerate(here.run.class_names) if c != but}
    found = tab(here, name, {NONE: none, **classes}, label=label, draw=partial(st.selectbox, width=width))
    return None if found == NONE else int(found)


def _read(asked: str, last: int) -> int:
    if asked.isdecimal() and FIRST <= int(asked[:12]) <= last:
        return int(asked)
    notice = f"The link asks for input = {asked[:20]}; allowed is {FIRST} to {last}. Using {FIRST}."
    st.toast(literal.markdown(notice), icon=":material/info:")
    raise ValueError(asked)


def _choose(index: int) -> None:
    st.session_state["kept_input"] = number(index)
