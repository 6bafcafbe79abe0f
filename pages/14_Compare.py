"""Compare: two runs under the same sliders, or two settings of one run, side by side."""

from functools import partial

import streamlit as st

from dntk_core.dashboard.asking.comparing import (
    MORE,
    ask_errors,
    asking,
    choose_sides,
    clicked,
    names,
    open_picked,
    paired,
    score_table,
    show_likeness,
    show_pair,
)
from dntk_core.dashboard.choices.mixing import USES
from dntk_core.dashboard.choices.tabs import open_tab, tab
from dntk_core.dashboard.drawing import literal
from dntk_core.dashboard.page import follow, page
from dntk_core.dashboard.sections import SECTIONS

uses = (*USES, *MORE.get(open_tab("figures", tuple(SECTIONS), "Spectra"), ()))
with page("Compare", uses=uses) as here:
    sides = choose_sides(here)
    if sides is not None:
        st.markdown(f"#### {' · '.join(map(literal.markdown, names(*sides)))}")
        st.dataframe(score_table(*sides), hide_index=True)
        sides = asking(here, sides)
        ask_errors(sides)
        open_picked(sides)
        show_likeness(*sides)
        section = tab(here, "figures", tuple(SECTIONS), "Spectra", "Figures")
        found = follow(here, partial(paired, panels=SECTIONS[section], sides=sides))
        for left, right in zip(found[::2], found[1::2], strict=True):
            show_pair(left, right, partial(clicked, sides, section))
