"""The shared sliders: drawn on every page, kept in the link, restored in a fresh session."""

from collections.abc import Mapping
from dataclasses import asdict, replace

import streamlit as st

from dntk_core.dashboard import literal
from dntk_core.dashboard.view import NAMES, Limits, View, link, restore

# Plain text: screen readers are given it as it is.
LABELS = {
    "H": "Clusters H",
    "tau_v": "Variance kept τ_v",
    "tau_g": "Gap threshold τ_g",
    "epsilon": "Truncation ε",
    "rank": "Rank r",
    "ridge": "Ridge",
    "kernel": "Kernel",
    "method": "Method",
    "rule": "Gap rule",
}
HELP = {
    "H": "Number of spectral clusters of the mean kernel.",
    "tau_v": "Share of variance that local and global eigenvectors must keep.",
    "tau_g": "A global direction covered less than this is a gap and gets its own gradient.",
    "epsilon": "Share of variance that truncation may drop.",
    "rank": "Number of leading global eigenvectors.",
    "ridge": r"Ridge in units of the mean kernel diagonal: $\lambda = \mathrm{ridge}\cdot \mathrm{tr}(\bar K)/m$.",
    "kernel": "The class-averaged kernel or the kernel of one class.",
    "method": "How the gradients are compressed.",
    "rule": "ratio: best single cluster, as in the paper. union: all clusters together, property (B).",
}
STEPS = {"H": 1, "tau_v": 0.005, "tau_g": 0.005, "epsilon": 0.005, "rank": 1}
FORMATS = {"tau_v": "%.3f", "tau_g": "%.3f", "epsilon": "%.3f"}


def sidebar(limits: Limits, uses: tuple[str, ...]) -> View:
    """Draw the controls that a page `uses`, the others folded away, and return what all of them say."""
    view = _settle(limits)
    others = [name for name in NAMES if name not in uses]
    with st.sidebar:
        values = {name: _widget(name, limits) for name in NAMES if name in uses}
        folded = st.expander("Settings of other pages" if uses else "Settings", key="others", on_change="rerun")
        # Every element costs time at every slider move, also one that is folded away.
        if others and folded.open:
            with folded:
                values |= {name: _widget(name, limits) for name in others}
    view = replace(view, **values)
    st.session_state["view"] = view
    return view


def apply(**values) -> None:
    """Move sliders from a callback, as a click on the grid does."""
    for name, value in values.items():
        st.session_state[_key(name)] = value


def open_run(key: str) -> None:
    """Open another run, from a callback."""
    st.query_params["run"] = key


def publish(parameters: Mapping[str, str]) -> None:
    """Make the link say exactly this."""
    if st.query_params.to_dict() != parameters:
        st.query_params.from_dict(parameters)
    st.session_state["published"] = dict(parameters)


def _key(name: str) -> str:
    return f"view_{name}"


def _settle(limits: Limits) -> View:
    """Decide who speaks, link or sliders, and make every value one that this run allows."""
    state, last = st.session_state, st.session_state.get("view")
    arrived = st.query_params.to_dict()
    if last is None:
        view, notices = restore(arrived, limits)
    else:
        sliders = replace(last, **{name: state[_key(name)] for name in NAMES if _key(name) in state})
        # Back and forward change the link while no slider moves. A link that merely lags behind a fast
        # slider must not win: then a slider has moved.
        travelled = bool(arrived) and arrived != state["published"] and sliders == last
        view, notices = restore(arrived if travelled else link(sliders), limits)
        notices = notices if travelled else []
    for name, value in asdict(view).items():
        # Writing an unchanged value would throw a slider back that is still being dragged.
        if state.get(_key(name)) != value:
            state[_key(name)] = value
    for notice in notices:
        st.toast(literal.markdown(notice), icon=":material/info:")
    return view


def _widget(name: str, limits: Limits):
    """Draw one control; its value comes from the session state."""
    common = {"label": LABELS[name], "key": _key(name), "help": HELP[name], "persist_state": "session"}
    if name == "ridge":
        return st.select_slider(options=limits.choices[name], format_func=lambda value: f"{value:.0e}", **common)
    if name == "kernel":
        names = {"mean": "Mean of all classes"} | dict(enumerate(limits.classes))
        return st.selectbox(options=limits.choices[name], format_func=names.get, **common)
    if name in limits.choices:
        return st.selectbox(options=limits.choices[name], **common)
    low, high = limits.bounds[name]
    if low == high:
        st.caption(f"{LABELS[name]}: {low}")
        return low
    return st.slider(min_value=low, max_value=high, step=STEPS[name], format=FORMATS.get(name), **common)
