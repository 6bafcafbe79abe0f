"""A choice that a page makes for itself, among tabs or in a list: kept in the link, restored from it."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import streamlit as st

from dntk_core.dashboard.choices.kept import keep, recall
from dntk_core.dashboard.page import Page


def tab(
    here: Page,
    name: str,
    options: Sequence[str] | Mapping[str, str],
    default: str = "",
    label: str = "",
    draw: Callable[..., str] | None = None,
) -> str:
    """Let a person choose one of the options, in words if they are a mapping; the link says `name` = the choice.

    default: the first option, if none is given; label: shown above, unless it is empty
    draw:    another widget than tabs, such as st.selectbox
    """

    key = _settle(name, options, default)
    shown = options if isinstance(options, Mapping) else {option: option for option in options}
    extra: dict[str, Any] = {} if draw else {"required": True}
    widget: Callable[..., str] = draw or st.segmented_control
    chosen = widget(
        label or name.replace("_", " ").capitalize(),
        list(options),
        format_func=lambda option: shown[option],
        key=key,
        label_visibility="visible" if label else "collapsed",
        persist_state="session",
        **extra,
    )
    keep(here.link, name, chosen)
    return chosen


def open_tab(name: str, options: Sequence[str] | Mapping[str, str], default: str = "") -> str:
    """Which option is chosen, before it is drawn: a slider that a tab ignores is not shown there."""
    return st.session_state[_settle(name, options, default)]


def _settle(name: str, options: Sequence[str] | Mapping[str, str], default: str) -> str:
    """Make the session hold one of the options, under the key returned."""

    def read(text: str) -> str:
        if text not in options:
            raise ValueError(text)
        return text

    first = default or next(iter(options))
    key = recall(name, read, first)
    # Options may have changed since: a run that was compared with may be gone.
    if st.session_state[key] not in options:
        st.session_state[key] = first
    return key
