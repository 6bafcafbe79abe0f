"""The button beside the ridge: closed-form leave-one-out on the kernel inputs, without test data."""

import streamlit as st

from dntk_core.dashboard.choices.controls import RIDGES
from dntk_core.dashboard.choices.sidebar import apply
from dntk_core.dashboard.drawing.metrics import power
from dntk_core.run.live import Live


def ridge_button(live: Live, key: str) -> None:
    """Offer the ridge of least leave-one-out error of the run under `key`; say what it chose while it stands."""
    # A callback: the slider is drawn before the script would come to it.
    st.button(
        "Choose ridge",
        on_click=_choose,
        args=(live, key),
        icon=":material/tune:",
        type="tertiary",
        help="The ridge with which the full kernel predicts each kernel input best from all others. "
        "No test data are used.",
    )
    chosen, ridge, error = st.session_state.get("chosen_ridge", ("", 0.0, 0.0))
    if chosen == key and st.session_state["view_ridge"] == ridge:
        inputs = len(live.problem.targets)
        st.caption(f"{power(ridge)} by leave-one-out on the {inputs:,} kernel inputs: MSE {error:.3g}, no test data.")


def _choose(live: Live, key: str) -> None:
    found = live.leave_one_out(RIDGES)
    st.session_state["chosen_ridge"] = key, found.best, float(found.mse.min())
    apply(ridge=found.best)
