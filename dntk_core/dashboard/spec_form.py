"""A form for a run spec, made from its dataclasses: a new field shows up by itself."""

from collections.abc import Callable
from dataclasses import fields, is_dataclass
from pathlib import Path

import streamlit as st

from dntk_core.base.compute import PRECISIONS
from dntk_core.base.spec import BASES, DATASET_METHODS, OUTPUTS, STARTS, WEIGHTS, RunSpec
from dntk_core.dashboard import roots
from dntk_core.data.sources import SOURCES

_CHOICES = {
    "data name": tuple(SOURCES),
    "dataset method": DATASET_METHODS,
    "dataset base": BASES,
    "dataset weights": WEIGHTS,
    "dataset start": STARTS,
    "outputs": OUTPUTS,
    "precision": PRECISIONS,
}
_FILES = {"data path": roots.datasets, "model weights": roots.weights}
_COLUMNS = 5


def spec_form(start: RunSpec, folders: tuple[Path, ...]) -> RunSpec | None:
    """Draw a form filled with `start`; returns the spec once it is sent. DNTKError if the spec makes no sense.

    folders: below which files may be named; without any, the spec keeps those of `start`
    """
    with st.form("spec", border=False):
        spec = _part(start, "", folders)
        return spec() if st.form_submit_button("Compute", type="primary") else None


def _part(start, title: str, folders: tuple[Path, ...]) -> Callable:
    """Draw the inputs of one dataclass, its parts first; returns what builds it from their values."""
    parts = {f.name: getattr(start, f.name) for f in fields(start) if is_dataclass(getattr(start, f.name))}
    files = {f.name: getattr(start, f.name) for f in fields(start) if f.metadata.get("kind") == "file"}
    asked = [f.name for f in fields(start) if not f.metadata and f.name not in parts]
    plain = {name: getattr(start, name) for name in asked} | (files if folders else {})
    built = {name: _part(part, name, folders) for name, part in parts.items()}
    lines = [st.columns(max(3, min(_COLUMNS, len(plain)))) for _ in range(0, len(plain), _COLUMNS)]
    columns = [column for line in lines for column in line]
    values = {
        name: _input(column, f"{title} {name}".strip(), value, folders)
        for column, (name, value) in zip(columns, plain.items(), strict=False)
    }

    def build():
        chosen = {name: value() if callable(value) else value for name, value in values.items()}
        return type(start)(**(files | chosen), **{name: part() for name, part in built.items()})

    return build


def _input(column, label: str, value, folders: tuple[Path, ...]):
    if label in _FILES:
        return _file(column, label, value, folders)
    if label in _CHOICES:
        return column.selectbox(label.capitalize(), _CHOICES[label], _CHOICES[label].index(value))
    if isinstance(value, str):
        return column.text_input(label.capitalize(), value)
    return column.number_input(label.capitalize(), value=value)


def _file(column, label: str, value: str, folders: tuple[Path, ...]) -> Callable[[], str]:
    """Offer what lies below the folders; returns what finds the file that was chosen or typed."""
    # What the open run has stays as it is: published weights, or a file that is refused when it is computed.
    shown = roots.below(value, folders) or value
    options = list(dict.fromkeys([shown, "", *_offered(label, folders)]))
    chosen = column.selectbox(label.capitalize(), options, accept_new_options=True, help="Below the server's folders.")
    return lambda: value if chosen == shown else str(roots.resolve(chosen, folders)) if chosen else ""


def offer_anew() -> None:
    """Look again at what the folders hold."""
    _offered.clear()


@st.cache_resource(ttl=60, max_entries=4, show_spinner=False)
def _offered(label: str, folders: tuple[Path, ...]) -> list[str]:
    return _FILES[label](folders)
