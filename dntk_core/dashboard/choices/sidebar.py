"""The shared sliders: drawn on every page, kept in the link, restored in a fresh session."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

import streamlit as st
from streamlit.components.v2 import component

from dntk_core.dashboard.choices.controls import CONTROLS, Limits, Slider
from dntk_core.dashboard.choices.view import View, link, restore
from dntk_core.dashboard.drawing import literal
from dntk_core.dashboard.drawing.frames import address

NOTHING: Mapping[str, Callable[[], None]] = MappingProxyType({})
# Where a slider stops at a view, and what it makes of the run there; None: anywhere between its bounds.
Stops = Callable[[str, View], tuple[Sequence[float], str] | None]

_scrub = component("dntk_scrub", js=Path(__file__).with_name("scrub.js").read_text(encoding="utf-8"))


def sidebar(
    limits: Limits,
    uses: tuple[str, ...],
    below: Mapping[str, Callable[[], None]] = NOTHING,
    stops: Stops = lambda name, view: None,
) -> View:
    """Draw the controls that a page `uses`, the others folded away, and return what all of them say.

    below: what else is drawn, by the control that it stands below
    """
    view = _settle(limits)
    others = [name for name in CONTROLS if name not in uses]
    texts: dict[str, list[str]] = {}
    with st.sidebar:
        values = {}
        for name in (name for name in CONTROLS if name in uses):
            values[name], texts[name] = _widget(name, limits, view, stops)
            below.get(name, lambda: None)()
        folded = st.expander("Settings of other pages" if uses else "Settings", key="others", on_change="rerun")
        # Every element costs time at every slider move, also one that is folded away.
        if others and folded.open:
            with folded:
                values |= {name: _widget(name, limits, view, stops)[0] for name in others}
        _scrub(key="scrub", data={"frames": address(), "stops": texts})
    view = view.replace(**values)
    st.session_state["view"] = view
    return view


def apply(**values) -> None:
    """Move sliders from a callback, as a click on a curve does."""
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


def _widget(name: str, limits: Limits, view: View, stops: Stops) -> tuple[Any, list[str]]:
    """Draw one control; its value comes from the session state. With it, all that it can say, where that is few."""
    control, found = CONTROLS[name], stops(name, view)
    common: dict = {"label": control.label, "key": _key(name), "help": control.help, "persist_state": "session"}
    if found:
        # A link may stand between two stops: it opens as it was.
        options, draw = sorted({*found[0], view[name]}), st.select_slider
        common["label"] += f" · {found[1]}" if found[1] else ""
    elif isinstance(control, Slider):
        low, high = control.bounds(limits)
        if low < high:
            texts = [str(value) for value in range(int(low), int(high) + 1)] if control.parse is int else []
            return st.slider(min_value=low, max_value=high, step=control.step, format=control.format, **common), texts
        options, draw = [low], st.select_slider
    else:
        options, draw = control.choices(limits), st.select_slider if control.ordered else st.selectbox
    texts = [control.shown(value, limits) for value in options]
    if len(options) == 1 and draw is st.select_slider:
        st.caption(f"{common['label']}: {options[0]}")
        return options[0], texts
    return draw(options=options, format_func=lambda value: control.shown(value, limits), **common), texts
