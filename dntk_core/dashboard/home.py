"""What Home shows: the open run, the form for a new one, the runs in the cache."""

from datetime import datetime
from pathlib import Path

import streamlit as st

from dntk_core.base.errors import DNTKError
from dntk_core.base.spec import RunSpec
from dntk_core.base.terminal import duration, size
from dntk_core.cache.index import RunInfo
from dntk_core.dashboard import cached, computations, literal
from dntk_core.dashboard.cautious import warn, warn_of
from dntk_core.dashboard.server import settings
from dntk_core.dashboard.sidebar import switch_run
from dntk_core.dashboard.spec_form import offer_anew, spec_form
from dntk_core.kernels.class_kernels import LARGEST_DENSE
from dntk_core.run.pipeline import Run, delete_run, runs


def summary(run: Run) -> None:
    """The numbers that describe a run, in one row."""
    facts = {
        "Parameters P": f"{run.parameters:,}",
        "Inputs m + t": f"{len(run.targets):,} + {len(run.test_labels):,}",
        "Projected to k": f"{run.features.shape[2]:,}",
        "Classes C": f"{len(run.class_names)}",
        "Network accuracy": f"{run.test_accuracy:.3f}",
        "Kernel error": f"{run.projection_error['measured']:.1%}",
        "Computed in": duration(sum(run.seconds.values())),
    }
    with st.container(horizontal=True, gap="medium"):
        for label, value in facts.items():
            st.metric(label, value, width="content")
    warn(run)
    if not run.dense:
        st.caption(
            f"With more than {LARGEST_DENSE:,} inputs kernels are kept as features: of the mean kernel the leading "
            "eigenpairs are computed, and a rank or dimension that needs more is given between bounds."
        )


def new_run(start: RunSpec, classes: int) -> None:
    """A form that computes another run, and a place for files where the server's owner allows uploads.

    start: what it is filled with; classes: how many the data of `start` have, 0 if that is not known
    """
    uploads = settings().uploads
    if uploads:
        _upload(uploads)
    try:
        spec = spec_form(start, settings().roots)
    except DNTKError as error:
        st.error(literal.markdown(str(error)))
        return
    if spec is not None:
        st.session_state["asked"] = spec
    asked = st.session_state.get("asked")
    # Of other data nobody has counted the classes yet.
    if asked is None:
        return
    if warn_of(asked, classes if asked.data == start.data else 0):
        st.button("Compute it all the same", on_click=_compute, args=(asked,))
    else:
        _compute(asked)
        st.rerun()


def _compute(spec: RunSpec) -> None:
    st.session_state["asked"] = None
    computations.start(spec)


def _upload(folder: Path) -> None:
    """Take one file after another; each is out of the server's memory once it is kept."""
    # Checking weights needs PyTorch, which a server without uploads never loads.
    from dntk_core.dashboard.uploads import SUFFIXES, receive

    count = st.session_state.setdefault("uploads", 0)
    sent = st.file_uploader(
        "Send data (.npz, or a .zip of train/<class>/… and val/<class>/…) or weights",
        type=[suffix.removeprefix(".") for suffix in SUFFIXES],
        key=f"upload_{count}",
    )
    if sent is None:
        return
    try:
        with st.spinner("Checking the file"):
            kept = receive(sent.name, sent.getbuffer(), folder)
    except DNTKError as error:
        st.error(literal.markdown(str(error)))
        return
    offer_anew()
    st.session_state["uploads"] = count + 1
    kind = "folder" if kept.is_dir() else "npz" if kept.suffix == ".npz" else ""
    use = f"data name {kind} and this data path" if kind else "it as model weights"
    st.toast(literal.markdown(f"Kept as {kept.name}; choose {use}."), duration="long")
    st.rerun()


def cached_runs(link: dict[str, str]) -> None:
    """Every run in the cache, to open, compare, resume or delete; `link` is the link to the open one."""
    for info in runs():
        is_open = info.key == link["run"]
        with st.container(horizontal=True, vertical_alignment="center", key=f"run_{info.key}"):
            _describe(info, is_open)
            if info.finished and not is_open:
                st.button("Open", key=f"open_{info.key}", on_click=switch_run, args=(info.key,))
                st.page_link("pages/9_Compare.py", label="Compare", query_params={**link, "other": info.key})
            if not info.finished and computations.jobs().get(info.key) is None:
                st.button("Resume", key=f"continue_{info.key}", on_click=computations.start, args=(info.spec,))
            _delete_button(info)


def _describe(info: RunInfo, is_open: bool) -> None:
    day = datetime.fromtimestamp(info.created).strftime("%Y-%m-%d %H:%M")
    state = " · **open**" if is_open else "" if info.finished else " · not finished"
    about = f":small[:gray[{info.key} · {size(info.bytes)} · {day}]]"
    st.markdown(f"{literal.markdown(info.spec.summary)}{state}  \n{about}", width="stretch")


def _delete_button(info: RunInfo) -> None:
    job = computations.jobs().get(info.key)
    busy = job is not None and job.status().active
    with st.popover("Delete", disabled=busy, key=f"delete_{info.key}"):
        st.markdown("Computing this run again takes as long as it did.")
        st.button(f"Delete {size(info.bytes)}", key=f"really_{info.key}", on_click=_delete, args=(info.key,))


def _delete(key: str) -> None:
    delete_run(key)
    cached.forget(key)
    computations.jobs().forget(key)
