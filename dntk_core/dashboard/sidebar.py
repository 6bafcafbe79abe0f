"""The shared sliders: drawn on every page, kept in the link, restored in a fresh session."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import streamlit as st

from dntk_core.dashboard import literal
from dntk_core.dashboard.controls import CONTROLS, Limits, Slider
from dntk_core.dashboard.view import View, link, restore

NOTHING: Mapping[str, Callable[[], None]] = MappingProxyType({})


def sidebar(limits: Limits, uses: tuple[str, ...], below: Mapping[str, Callable[[], None]] = NOTHING) -> View:
    """Draw the controls that a page `uses`, the others folded away, and return what all of them say.

    below: what else is drawn, by the control that it stands below
    """
    view = _settle(limits)
    others = [name for name in CONTROLS if name not in uses]
    with st.sidebar:
        values = {}
        for name in (name for name in CONTROLS if name in uses):
            values[name] = _widget(name, limits)
            below.get(name, lambda: None)()
        folded = st.expander("Settings of other pages" if uses else "Settings", key="others", on_change="rerun")
        # Every element costs time at every slider move, also one that is folded away.
        if others and folded.open:
            with folded:
                values |= {name: _widget(name, limits) for name in others}
    view = view.replace(**values)
    st.session_state["view"] = view
    return view


def apply(**values) -> None:
    """Move sliders from a callback, as a click on the grid does."""
    for name, value in values.items():
        st.session_state[_key(name)] = value


def switch_run(key: str) -> None:
    """Make another run the open one, from a callback."""
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
        sliders = last.replace(**{name: state[_key(name)] for name in CONTROLS if _key(name) in state})
        # Back and forward change the link while no slider moves. A link that merely lags behind a fast
        # slider must not win: then a slider has moved.
        travelled = bool(arrived) and arrived != state["published"] and sliders == last
        view, notices = restore(arrived if travelled else link(sliders), limits)
        notices = notices if travelled else []
    for name, value in view.items():
        # Writing an unchanged value would throw a slider back that is still being dragged.
        if state.get(_key(name)) != value:
            state[_key(name)] = value
    for notice in notices:
        st.toast(literal.markdown(notice), icon=":material/info:")
    return view


def _widget(name: str, limits: Limits) -> Any:
    """Draw one control; its value comes from the session state."""
    control = CONTROLS[name]
    common: dict = {"label": control.label, "key": _key(name), "help": control.help, "persist_state": "session"}
    if isinstance(control, Slider):
        low, high = control.bounds(limits)
        if low == high:
            st.caption(f"{control.label}: {low}")
            return low
        return st.slider(min_value=low, max_value=high, step=control.step, format=control.format, **common)
    draw = st.select_slider if control.ordered else st.selectbox
    return draw(options=control.choices(limits), format_func=lambda value: control.shown(value, limits), **common)
