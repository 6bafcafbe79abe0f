"""The fold in the sidebar where a run is named, tagged, noted and starred, and views are saved."""

from dataclasses import replace

import streamlit as st

from dntk_core.base.errors import DNTKError
from dntk_core.dashboard.drawing import literal
from dntk_core.dashboard.drawing.navigation import pages
from dntk_core.run.notes import Notes, read_notes, write_notes

# How a run with a star is marked.
STAR = "★"


def fold(key: str, page: str) -> None:
    """Offer all this for the run under `key`, from a page."""
    folded = st.sidebar.expander("Notes and saved views", key="noting", on_change="rerun")
    # Every element costs time at every slider move, also one that is folded away.
    if not folded.open:
        return
    with folded:
        try:
            notes = read_notes(key)
            _about(key, notes)
            _views(key, notes, page)
        except DNTKError as error:
            st.error(literal.markdown(str(error)))


def titled(summary: str, notes: Notes) -> str:
    """What a run is called in lists: its star, its own name if it has one, its settings, its tags.

    >>> titled("digits, k = 512", Notes(name="the good one", star=True, tags=("small",)))
    '★ the good one: digits, k = 512 [small]'
    """
    star = f"{STAR} " if notes.star else ""
    name = f"{notes.name}: " if notes.name else ""
    tags = f" [{', '.join(notes.tags)}]" if notes.tags else ""
    return f"{star}{name}{summary}{tags}"


def _about(key: str, notes: Notes) -> None:
    with st.form(f"notes_{key}", border=False):
        name = st.text_input("Name of this run", notes.name)
        tags = st.text_input("Tags, with commas between them", ", ".join(notes.tags))
        note = st.text_area("Note", notes.note, height=90)
        star = st.checkbox("Star", notes.star)
        if st.form_submit_button("Keep"):
            found = tuple(dict.fromkeys(tag.strip() for tag in tags.split(",") if tag.strip()))
            write_notes(key, replace(notes, name=name.strip(), tags=found, note=note, star=star))
            st.rerun()


def _views(key: str, notes: Notes, page: str) -> None:
    files = {label: file for file, label in pages()}
    for name, link in notes.views.items():
        file = files.get(link.get("page", ""))
        with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
            if file:
                address = {part: text for part, text in link.items() if part != "page"} | {"run": key}
                st.page_link(file, label=literal.markdown(name), query_params=address)
            else:
                st.caption(literal.markdown(name))
            if st.button("Forget", key=f"forget_view_{name}", type="tertiary"):
                write_notes(key, notes.without_view(name))
                st.rerun()
    with st.form("save_view", border=False, clear_on_submit=True):
        name = st.text_input("Save this view as")
        if st.form_submit_button("Save view") and name.strip():
            # What the address says: sliders, tabs, what is open.
            shown = {**st.session_state.get("published", {}), "page": page}
            write_notes(key, notes.with_view(name.strip(), shown))
            st.rerun()
