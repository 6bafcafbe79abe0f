"""Test inputs, opened: what is said of one and which kernel inputs made that; those that share a doubt."""

import numpy as np
import streamlit as st

from dntk_core.base.numbering import number
from dntk_core.dashboard.choices.mixing import current_mixing
from dntk_core.dashboard.choices.picks import NAME, Pick, pick
from dntk_core.dashboard.drawing import literal
from dntk_core.dashboard.drawing.inputs import show_inputs
from dntk_core.dashboard.drawing.palette import BLUE
from dntk_core.dashboard.page import Page
from dntk_core.dashboard.sections import uncertainty
from dntk_core.dashboard.sections.predictions import insight, summary_of

# Kernel inputs beside a test input, and test inputs of a list.
SPEAKERS, MOST = 12, 60


def open_test(here: Page, found: Pick) -> str:
    """One test input, who says what of it, and the kernel inputs that speak most for the network's choice."""
    i = found.place("test", len(here.run.test_labels))
    if i is None:
        st.caption(f"There is no such test input: there are {len(here.run.test_labels):,}.")
        return found.text.capitalize()
    mixing = current_mixing(here.live, here.view)
    told = insight(here).explain(i, ridge=here.view.ridge, mixing=mixing, by=here.view.readout)
    speakers = told.speakers(SPEAKERS)[0].tolist()
    said = literal.markdown(summary_of(here, told))
    st.caption(f"{said} Behind it the kernel inputs that speak most for the network's choice.")
    left, right = st.columns([1, 7], gap="medium")
    with left:
        show_inputs(here.run, "test", [i], ["this input"], [BLUE], key="opened_test")
    with right:
        notes = [f"{told.values[j]:+#.3g}" for j in speakers]
        show_inputs(
            here.run, "kernel", speakers, notes, key="opened_inputs", on_click=lambda j: pick(Pick.of("input", j))
        )
    link = {name: text for name, text in here.link.items() if name != NAME} | {"input": str(number(i))}
    st.page_link("pages/9_Predictions.py", label="Explain it", query_params=link, icon=":material/arrow_forward:")
    return f"Test input {number(i)}"


def open_doubted(here: Page, found: Pick) -> str:
    """The test inputs of a bin of the reliability diagram, or those rejected up to a share."""
    asked = uncertainty.doubted(here, found.parts)
    if asked is None:
        st.caption("There is no such list.")
        return "Doubt"
    title, index, notes = asked
    st.caption(f"{len(index):,} of {len(here.run.test_labels):,} test inputs, the most doubtful first.")
    show_listed(here, index, notes)
    return title


def show_listed(here: Page, index: np.ndarray, notes: list[str]) -> None:
    """The first test inputs of a list that is open."""
    show_tests(here, index[:MOST], notes[:MOST], key="opened_inputs")
    if len(index) > MOST:
        st.caption(f"{MOST} of {len(index):,} are shown.")


def show_tests(here: Page, index: np.ndarray | list[int], notes: list[str], key: str) -> None:
    """Test inputs that a click opens."""
    show_inputs(here.run, "test", [int(i) for i in index], notes, key=key, on_click=lambda i: pick(Pick.of("test", i)))
