"""Distilling the images of the open run: how, asked before it begins; what there is already, shown while it goes on."""

import streamlit as st

from dntk_core.base.errors import DNTKError
from dntk_core.base.spec import RunSpec, dataset_methods
from dntk_core.cache.store import Store
from dntk_core.dashboard.computing.fields import FIELDS
from dntk_core.dashboard.computing.spec_form import ask, complain
from dntk_core.dashboard.drawing.panel import Panel
from dntk_core.dashboard.page import Page
from dntk_core.dashboard.sections import dataset

_ASKED = ("per_class", "iterations")
_METHODS = [name for name in dataset_methods() if name != "none"]


def how(here: Page) -> RunSpec | None:
    """Ask how the open run's images are to be distilled; None while something makes no sense."""
    usual = dataset.distilled(here.run.spec).dataset
    columns, values = st.columns(4), {}
    with columns[0]:
        method = st.selectbox("Method", _METHODS, key="distil_method", help=FIELDS["dataset.method"].help)
    for column, name in zip(columns[1:], _ASKED if method == "wmdd" else _ASKED[:1], strict=False):
        with column:
            try:
                values[name] = ask(f"dataset.{name}", getattr(usual, name))
            except DNTKError as error:
                complain(error)
                return None
    return dataset.distilled(here.run.spec, method, **values)


def so_far(here: Page, wanted: RunSpec) -> Panel | None:
    """The images of a run, as soon as they are made."""
    made = Store().get("distilled", wanted.stage_key("distilled"))
    if made is None:
        return None
    n = here.run.artifacts["inputs"].note["n"]
    return dataset.pictures(made, here.run.class_names, wanted.dataset.method, n, real=here.run)
