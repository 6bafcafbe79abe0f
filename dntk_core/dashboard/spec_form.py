"""A form for a run spec, made from its dataclasses: a new field shows up by itself."""

from dataclasses import fields, is_dataclass

import streamlit as st

from dntk_core.compute import PRECISIONS
from dntk_core.sources import SOURCES
from dntk_core.spec import BASES, DISTILLATIONS, OUTPUTS, STARTS, WEIGHTS, RunSpec

_CHOICES = {
    "data name": tuple(SOURCES),
    "distill method": DISTILLATIONS,
    "distill base": BASES,
    "distill weights": WEIGHTS,
    "distill start": STARTS,
    "outputs": OUTPUTS,
    "precision": PRECISIONS,
}
_COLUMNS = 5


def spec_form(start: RunSpec) -> RunSpec | None:
    """Draw a form filled with `start`; returns the spec once it is sent. DNTKError if the spec makes no sense."""
    with st.form("spec", border=False):
        spec = _part(start, "")
        return spec() if st.form_submit_button("Compute", type="primary") else None


def _part(start, title: str):
    """Draw the inputs of one dataclass, its parts first; returns what builds it from their values."""
    parts = {f.name: getattr(start, f.name) for f in fields(start) if is_dataclass(getattr(start, f.name))}
    # Files and code are named on the command line alone; an open run keeps those it has.
    kept = {f.name: getattr(start, f.name) for f in fields(start) if f.metadata.get("kind") == "file"}
    asked = [f.name for f in fields(start) if not f.metadata and f.name not in parts]
    plain = {name: getattr(start, name) for name in asked}
    built = {name: _part(part, name) for name, part in parts.items()}
    lines = [st.columns(max(3, min(_COLUMNS, len(plain)))) for _ in range(0, len(plain), _COLUMNS)]
    columns = [column for line in lines for column in line]
    values = {
        name: _input(column, f"{title} {name}".strip(), value)
        for column, (name, value) in zip(columns, plain.items(), strict=False)
    }
    return lambda: type(start)(**kept, **values, **{name: build() for name, build in built.items()})


def _input(column, label: str, value):
    if label in _CHOICES:
        return column.selectbox(label.capitalize(), _CHOICES[label], _CHOICES[label].index(value))
    if isinstance(value, str):
        return column.text_input(label.capitalize(), value)
    return column.number_input(label.capitalize(), value=value)
