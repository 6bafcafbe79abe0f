"""Settings pinned as A, to tune B beside them: kept in the link."""

from urllib.parse import parse_qsl, urlencode

import streamlit as st

from dntk_core.dashboard.choices.controls import CONTROLS, Limits
from dntk_core.dashboard.choices.kept import keep, recall
from dntk_core.dashboard.choices.view import View, link, restore

NAME = "a"


def pinned(address: dict[str, str], limits: Limits) -> View | None:
    """The pinned settings, if there are any, as far as the run allows them."""

    def read(text: str) -> View:
        return restore(dict(parse_qsl(text[:1000])), limits)[0]

    key = recall(NAME, read, None)
    found = st.session_state[key]
    if found is not None:
        found, _ = restore(link(found), limits)
    keep(address, NAME, urlencode(link(found)) if found else "")
    return found


def pin(view: View) -> None:
    """Pin settings, from a callback."""
    st.session_state[f"kept_{NAME}"] = view


def differences(one: View, other: View, limits: Limits) -> str:
    """In which settings two views differ, in words.

    >>> differences(View(H=4), View(H=6, tau_v=0.9), Limits(100, ("cat", "dog")))
    'Clusters H 4 → 6, Variance kept τ_v 0.8 → 0.9'
    """
    changed = [
        f"{control.label} {control.shown(one[name], limits)} → {control.shown(other[name], limits)}"
        for name, control in CONTROLS.items()
        if one[name] != other[name]
    ]
    return ", ".join(changed) or "nothing"
