"""The form for a new run, made from its spec's dataclasses: a new setting shows up by itself, FIELDS says how."""

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from math import isfinite
from pathlib import Path
from typing import Any

import streamlit as st

from dntk_core.base.errors import DNTKError
from dntk_core.base.spec import RunSpec
from dntk_core.dashboard.computing.fields import FIELDS, GROUPS, SUGGESTED, Field, shown
from dntk_core.dashboard.drawing import literal
from dntk_core.dashboard.server import roots

_FILES = {"data.path": roots.datasets, "data.vocabulary": roots.vocabularies, "model.weights": roots.weights}
_COLUMNS = 4
# What a field that may be left empty shows; its help says what that means.
EMPTY = "automatic"


def spec_form(start: RunSpec, folders: tuple[Path, ...]) -> RunSpec | None:
    """Ask for every setting, filled with those of `start`; the spec, or None while something is wrong with it.

    What is wrong is said beside its field. folders: below which files may be named; without any, files stay `start`'s
    """
    values = dict(_settings(start, bool(folders)))
    grouped = [name for names in GROUPS.values() for name in names]
    wrong = []
    for group, names in GROUPS.items():
        asked = [name for name in names or (each for each in values if each not in grouped) if name in values]
        with st.expander(group, expanded=False) if not names else st.container(border=True, gap="xsmall"):
            if names:
                st.markdown(f"**{group}**")
            distilled = st.session_state.get("spec_dataset.method", start.dataset.method) != "none"
            asked = [name for name in asked if shown(name, distilled)]
            columns = [column for _ in range(0, len(asked), _COLUMNS) for column in st.columns(_COLUMNS)]
            for column, name in zip(columns, asked, strict=False):
                with column:
                    try:
                        values[name] = ask(name, values[name], folders)
                    except DNTKError as error:
                        wrong.append(name)
                        complain(error)
    if wrong:
        return None
    try:
        return _built(start, values)
    except DNTKError as error:
        st.error(literal.markdown(str(error)))
        return None


def complain(error: DNTKError) -> None:
    """Say below a field what is wrong with it."""
    st.caption(f":red[{literal.markdown(str(error))}]")


def _settings(spec: RunSpec, files: bool) -> Iterator[tuple[str, Any]]:
    """Name and value of every setting that a page may ask for, those of parts as part.name."""
    for part in fields(spec):
        value = getattr(spec, part.name)
        if not is_dataclass(value):
            yield part.name, value
            continue
        for each in fields(value):
            kind = each.metadata.get("kind")
            if kind is None or (kind == "file" and files):
                yield f"{part.name}.{each.name}", getattr(value, each.name)


def _built(start: RunSpec, values: dict[str, Any]) -> RunSpec:
    """The spec with these settings; a file that was changed has no fingerprint yet."""
    parts = {}
    for part in fields(start):
        old = getattr(start, part.name)
        if not is_dataclass(old):
            parts[part.name] = values[part.name]
            continue
        named = {name.partition(".")[2]: value for name, value in values.items() if name.startswith(f"{part.name}.")}
        files = [f.name for f in fields(old) if f.metadata.get("kind") == "file"]
        if any(name in named and named[name] != getattr(old, name) for name in files):
            named |= {f.name: f.default for f in fields(old) if f.metadata.get("kind") == "fingerprint"}
        parts[part.name] = type(old)(**{f.name: named.get(f.name, getattr(old, f.name)) for f in fields(old)})
    return type(start)(**parts)


def ask(name: str, value: Any, folders: tuple[Path, ...] = ()) -> Any:
    """Draw one field; DNTKError if what it holds makes no sense."""
    field = FIELDS.get(name, Field(name.replace(".", " ").replace("_", " ").capitalize(), ""))
    common: dict[str, Any] = {"label": field.label, "help": field.help or None, "key": f"spec_{name}"}
    if name == "data.name":
        common["on_change"] = _suggest
    if name in _FILES:
        return _file(name, value, folders, common)
    # A value that is set from elsewhere must not be given a second time.
    known = common["key"] in st.session_state
    if field.choices:
        options = list(dict.fromkeys([*field.choices, value]))
        index = {} if known else {"index": options.index(value)}
        chosen = st.selectbox(options=options, accept_new_options=field.open, placeholder=EMPTY, **index, **common)
    else:
        # Also for numbers: Streamlit's own field for them reads 1e20 as 1.
        chosen = st.text_input(**({} if known else {"value": _written(value)}), placeholder=EMPTY, **common) or ""
        if not isinstance(value, str):
            return number(chosen, field, whole=isinstance(value, int))
    if problem := field.check(chosen or ""):
        raise DNTKError(problem)
    return chosen


def number(text: str, field: Field, whole: bool) -> float:
    """Read a number as people write it; DNTKError if it is none, or out of bounds.

    >>> number("2,048", Field("k", "", low=1, high=9999), whole=True)
    2048
    """
    try:
        found = float(text.replace(",", "").replace(" ", ""))
    except ValueError:
        raise DNTKError(f"a {'whole ' if whole else ''}number is needed") from None
    low, high = field.low, field.high
    if not isfinite(found) or (low is not None and found < low) or (high is not None and found > high):
        raise DNTKError(f"from {low:,g} to {high:,.0f}" if low is not None and high is not None else "a finite number")
    if whole and found != int(found):
        raise DNTKError("a whole number is needed")
    return int(found) if whole else found


def _written(value: Any) -> str:
    return value if isinstance(value, str) else f"{value:g}" if isinstance(value, float) else str(value)


def _suggest() -> None:
    """Set what goes well with the dataset that was just chosen."""
    for name, value in SUGGESTED.get(st.session_state["spec_data.name"], {}).items():
        st.session_state[f"spec_{name}"] = _written(value)


def _file(name: str, value: str, folders: tuple[Path, ...], common: dict[str, Any]) -> str:
    """Offer what lies below the folders, and find what was chosen or typed."""
    # What the open run has stays as it is: published weights, or a file that is refused when it is computed.
    known = roots.below(value, folders) or value
    options = list(dict.fromkeys([known, "", *_offered(name, folders)]))
    chosen = st.selectbox(options=options, accept_new_options=True, **common)
    return value if chosen == known else str(roots.resolve(chosen, folders)) if chosen else ""


def offer_anew() -> None:
    """Look again at what the folders hold."""
    _offered.clear()


@st.cache_resource(ttl=60, max_entries=4, show_spinner=False)
def _offered(name: str, folders: tuple[Path, ...]) -> list[str]:
    return _FILES[name](folders)
