"""What a page asks for itself, kept in the link: a number, a list, what was clicked last."""

from collections.abc import Callable
from typing import TypeVar

import streamlit as st

Value = TypeVar("Value")


def recall(name: str, read: Callable[[str], Value], first: Value) -> str:
    """Make the session hold a value under the key returned, for a widget or for itself, before that is drawn.

    read: from the text of a link; ValueError if that says nothing
    As with sliders: the link speaks where it was changed and the value was not.
    """
    key, state = f"kept_{name}", st.session_state
    asked, published = st.query_params.get(name), state.get("published", {}).get(name)
    moved = key in state and state[key] != state.get(f"{key}_last", state[key])
    if asked != published and not moved:
        try:
            state[key] = first if asked is None else read(asked)
        except ValueError:
            state[key] = first
    if key not in state:
        state[key] = first
    return key


def keep(link: dict[str, str], name: str, text: str) -> None:
    """Write what the session holds into the link; an empty text leaves it out."""
    state, key = st.session_state, f"kept_{name}"
    state[f"{key}_last"] = state[key]
    if text:
        link[name] = text
