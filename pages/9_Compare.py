"""Compare: two runs side by side under the same sliders."""

from dataclasses import replace

import streamlit as st

from dntk_core.dashboard import literal
from dntk_core.dashboard.comparing import choose_other, scores
from dntk_core.dashboard.controls import CONTROLS
from dntk_core.dashboard.page import page
from dntk_core.dashboard.panel import show
from dntk_core.dashboard.sections import SECTIONS

with page("Compare", uses=tuple(CONTROLS)) as here:
    other = choose_other(here)
    if other is not None:
        section = st.segmented_control("Figures", list(SECTIONS), default="Spectra", required=True)
        for column, side, one in zip(st.columns(2, gap="medium"), "ab", (here, other), strict=True):
            with column:
                st.markdown(f"#### {literal.markdown(one.run.spec.summary)}")
                scores(one)
                for panel in SECTIONS[section](one):
                    show(replace(panel, key=f"{panel.key}_{side}"))
