"""What a setting of Algorithm 1 makes, and what a run of another projected dimension would take, opened."""

from dataclasses import replace

import pandas as pd
import streamlit as st

from dntk_core.dashboard.asking.errors import errors, show_errors
from dntk_core.dashboard.choices.kernel import kernel_name
from dntk_core.dashboard.choices.picks import Pick
from dntk_core.dashboard.choices.sidebar import apply, switch_run
from dntk_core.dashboard.choices.view import chosen_class, restore
from dntk_core.dashboard.computing import computations
from dntk_core.dashboard.computing.foretold import takes
from dntk_core.dashboard.drawing import literal
from dntk_core.dashboard.drawing.metrics import METRICS, of, written
from dntk_core.dashboard.page import Page, limits
from dntk_core.kernels.spectrum import parameter_redundancy

SETTING = ("H", "tau_v", "tau_g")


def open_setting(here: Page, found: Pick) -> str:
    """Its gradients and scores, a button that takes it, and the inputs where it disagrees with the network."""
    asked = dict(zip(SETTING, found.parts, strict=False))
    view, refused = restore({name: str(value) for name, value in here.view.items()} | asked, limits(here.run))
    if refused or len(asked) < len(SETTING):
        st.caption("There is no such setting.")
        return "Setting"
    view = view.replace(method="local-global")
    live, t = here.live, len(here.run.test_labels)
    mixing = live.local_global(view.H, view.tau_v, view.tau_g, view.rule, view.energy)
    scores = live.scores(mixing, view.ridge, view.readout)
    kinds = [origin.kind for origin in mixing.origin]
    made = ", ".join(f"{kinds.count(kind)} {kind}" for kind in sorted(set(kinds), reverse=True))
    row = {"gradients s": f"{mixing.size} ({made})"}
    row |= {metric.title: written(metric, float(of(scores, name)), t) for name, metric in METRICS.items()}
    st.dataframe(pd.DataFrame([row]), hide_index=True)
    values = {name: view[name] for name in (*SETTING, "method")}
    if all(here.view[name] == value for name, value in values.items()):
        st.caption("The sliders say this setting.")
    else:
        st.button("Use this setting", key="use_setting", on_click=apply, kwargs=values, type="primary")
    lost = errors(live, view, "fidelity", "distilled")
    if lost is not None:
        st.markdown("**Disagreements with the network**")
        show_errors(here, lost, "fidelity", "setting")
    return f"H = {view.H}, τ_v = {view.tau_v:g}, τ_g = {view.tau_g:g}"


def open_dimension(here: Page, found: Pick) -> str:
    """What a projection to k dimensions is expected to cost in precision, and the run with that k."""
    run, view = here.run, here.view
    k = found.place("dimension", 2**20)
    if k is None:
        st.caption("There is no such dimension.")
        return "Dimension"
    k += 1
    terms = parameter_redundancy(here.live.spectrum(chosen_class(view)), run.parameters, k, view.epsilon)
    st.caption(
        f"A projection to {k:,} dimensions is expected to change the {literal.markdown(kernel_name(here))} kernel by "
        f"{terms.jl:.1%} of its norm; rank {terms.rank} leaves out at most {terms.tail:.1%} of it, whatever k is."
    )
    if k == run.k:
        st.caption("This is the open run.")
    elif run.spec.from_python:
        st.caption("This run was made in Python: call `study` with another k there.")
    else:
        _offer(here, k)
    return f"k = {k:,}"


def _offer(here: Page, k: int) -> None:
    """Open the same run with another k, or compute it."""
    other = replace(here.run.spec, projection=replace(here.run.spec.projection, k=k))
    if computations.available(other.key):
        st.button(f"Open the run with k = {k:,}", key="other_k", on_click=switch_run, args=(other.key,))
        return
    st.caption(takes(other, len(here.run.class_names)))
    st.button(f"Compute it with k = {k:,}", key="other_k", on_click=computations.start, args=(other,))
    computations.follow((other.key,))
