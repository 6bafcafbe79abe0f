"""Groups of parameters, opened: what one gets wrong by itself, where two choose differently."""

import numpy as np
import streamlit as st

from dntk_core.dashboard.asking.errors import Errors, show_errors
from dntk_core.dashboard.asking.testing import show_listed
from dntk_core.dashboard.choices.picks import Pick
from dntk_core.dashboard.page import Page
from dntk_core.dashboard.sections import layers
from dntk_core.run.layers import Layers


def open_group(here: Page, found: Pick) -> str:
    """A group's numbers, and the test inputs that its kernel, or all others without it, misclassifies."""
    parts = _parts(here)
    g = None if parts is None else found.place("group", len(parts.columns))
    if parts is None or g is None:
        return _nothing()
    columns, without = parts.columns[g], found.parts[1:] == ("without",)
    st.dataframe(layers.numbers(here).iloc[[g]], hide_index=True)
    who = "All groups but this one" if without else "This group's kernel alone"
    st.caption(f"{who}, fitted to the network's outputs, misclassifies these test inputs.")
    choice = (parts.others if without else parts.chosen)[:, g]
    labels, network = here.run.test_labels, here.run.test_logits.argmax(axis=1)
    missed = Errors(np.flatnonzero(choice != labels), choice, network, labels)
    show_errors(here, missed, "accuracy", "group", order="in their own order")
    return f"{'All but ' if without else ''}{columns.group}, {columns.P:,} parameters"


def open_groups(here: Page, found: Pick) -> str:
    """The test inputs that two groups, each by itself, take for different classes."""
    parts = _parts(here)
    if parts is None:
        return _nothing()
    ends = [Pick("groups", (part,)).place("groups", len(parts.columns)) for part in found.parts[:2]]
    if len(ends) < 2 or None in ends:
        return _nothing()
    a, b = (int(end) for end in ends if end is not None)
    names, one, other = here.run.class_names, parts.chosen[:, a], parts.chosen[:, b]
    differ = np.flatnonzero(one != other)
    st.caption(
        f"Their kernels have a CKA of {parts.between[a, b]:.3f}. Each by itself, they take {len(differ):,} of "
        f"{len(one):,} test inputs for different classes."
    )
    show_listed(here, differ, [f"{names[one[i]]} · {names[other[i]]}" for i in differ])
    return " and ".join(parts.columns[g].group for g in dict.fromkeys((a, b)))


def _parts(here: Page) -> Layers | None:
    return layers.found(here) if layers.kept(here.run) else None


def _nothing() -> str:
    st.caption("There is no such group of parameters in this run.")
    return "Group"
