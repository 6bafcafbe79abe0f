"""What Home shows: the open run, the form for a new one, the runs in the cache."""

from datetime import datetime
from pathlib import Path

import streamlit as st

from dntk_core.base.errors import DNTKError
from dntk_core.base.spec import RunSpec
from dntk_core.base.terminal import duration, size
from dntk_core.cache.index import RunInfo
from dntk_core.dashboard import cached
from dntk_core.dashboard.asking.noting import titled
from dntk_core.dashboard.choices.sidebar import switch_run
from dntk_core.dashboard.computing import computations
from dntk_core.dashboard.computing.foretold import takes
from dntk_core.dashboard.computing.spec_form import offer_anew, spec_form
from dntk_core.dashboard.drawing import literal
from dntk_core.dashboard.drawing.cautious import warn, warn_of
from dntk_core.dashboard.server.settings import settings
from dntk_core.kernels.feature_kernels import LARGEST_DENSE
from dntk_core.run.notes import Notes, read_notes
from dntk_core.run.pipeline import Run, delete_run, runs
from dntk_core.run.series import Series, all_series, drop_series

WHAT = (
    "A trained network can be studied through the gradients of its outputs: they make a kernel, its *neural tangent "
    "kernel*. DNTK computes it, finds how few gradients do the work of all of them, and hands those out."
)

# A mean kernel of sketched classes that is off by more says little beyond its first directions.
TRUSTED = 0.1


def steps(link: dict[str, str]) -> None:
    """Where to begin, in three steps."""
    with st.container(gap="small"):
        st.markdown("#### Where to begin")
        rows = (
            ("Look at this run", "How redundant its gradients are.", "pages/1_Spectra.py", "Spectra"),
            (
                "Move one slider",
                "*Clusters H* decides which gradients are made; scores follow at once.",
                "pages/4_Gradient_distillation.py",
                "Gradient distillation",
            ),
        )
        for number, (title, text, file, label) in enumerate(rows, start=1):
            with st.container(border=True, gap="xsmall"):
                st.markdown(f"**{number}. {title}.** {text}")
                st.page_link(file, label=f"Open {label}", query_params=link, icon=":material/arrow_forward:")
        with st.container(border=True, gap="xsmall"):
            st.markdown("**3. Bring your own.** Other data, another network, more inputs: computed here, kept here.")
            st.button("Describe a run", icon=":material/arrow_downward:", on_click=_unfold, type="tertiary")
        st.caption("What you have made on any page, *Export* hands out as files.")


def _unfold() -> None:
    st.session_state["new_run"] = True


def summary(run: Run) -> None:
    """The numbers that describe a run, in one row."""
    facts = {
        "Parameters P": f"{run.parameters:,}",
        "Inputs m + t": f"{len(run.targets):,} + {len(run.test_labels):,}",
        "Projected to k": f"{run.k:,}",
        "Classes C": f"{len(run.class_names)}",
        "Network accuracy": f"{run.test_accuracy:.1%}",
        "Kernel error": f"{error:.1%}" if (error := run.projection_error.get("measured")) is not None else "–",
        "Computed in": duration(sum(run.seconds.values())),
    }
    with st.container(horizontal=True, gap="medium"):
        for label, value in facts.items():
            st.metric(label, value, width="content")
    warn(run)
    sentence = f"The network sees {run.preprocessing}." if run.preprocessing else ""
    if run.threads:
        threads = "1 thread" if run.threads == 1 else f"{run.threads} threads"
        sentence += f" It was trained with {threads}: another number gives slightly other weights."
    if sentence:
        st.caption(literal.markdown(sentence))
    if sketch := run.class_sketch:
        st.caption(
            f"{sketch['q']} random sums stand for the gradients of {sketch['classes']:,} classes: the mean kernel is "
            f"off by {sketch['measured']:.1%} on {sketch['inputs']} inputs ({sketch['expected']:.1%} expected). Every "
            "class is read out through the mean kernel, which all share; kernels of single classes are those of the "
            f"{len(run.exact_classes)} exact ones{_places(sketch)}."
        )
        if sketch["measured"] > TRUSTED:
            st.warning(f"Eigenvalues below {sketch['measured']:.0%} of the largest deserve no trust: raise the sketch.")
    if not run.dense:
        st.caption(
            f"With more than {LARGEST_DENSE:,} inputs kernels are kept as features: of the mean kernel the leading "
            "eigenpairs are computed, and a rank or dimension that needs more is given between bounds."
            + (" Sketched classes are read out through these eigenpairs." if run.class_sketch else "")
        )


def _places(sketch: dict) -> str:
    """How much of the inputs' top five the exact classes are, where they were chosen by that."""
    if "places" not in sketch:
        return ""
    return f", which make up {sketch['places']:.0%} of the five largest outputs of {sketch['ranked']:,} kernel inputs"


@st.fragment
def new_run(start: RunSpec, classes: int) -> None:
    """A form that computes another run, and a place for files where the server's owner allows uploads.

    start: what it is filled with; classes: how many the data of `start` have, 0 if that is not known
    """
    # What Python gave has no name that a form could ask for.
    start, classes = (RunSpec.default(), 0) if start.from_python or start.data.own else (start, classes)
    uploads = settings().uploads
    if uploads:
        _upload(uploads)
    spec = spec_form(start, settings().roots)
    # One place for what is foretold and one for the button, whatever the form says: of two buttons at two places a
    # redraw could leave both standing.
    with st.container():
        doubtful = spec is not None and _foretell(spec, classes if spec.data == start.data else 0)
    pressed = st.button(
        "Compute it all the same" if doubtful else "Compute",
        type="secondary" if doubtful else "primary",
        disabled=spec is None,
        help="Something above makes no sense yet." if spec is None else None,
    )
    if pressed and spec is not None:
        computations.start(spec)
        st.rerun()


def _foretell(spec: RunSpec, classes: int) -> bool:
    """Say what a run will take; whether there is something to think about first. classes: 0 if nobody has counted."""
    st.caption(takes(spec, classes))
    return warn_of(spec, classes)


def _upload(folder: Path) -> None:
    """Take one file after another; each is out of the server's memory once it is kept."""
    # Checking weights needs PyTorch, which a server without uploads never loads.
    from dntk_core.dashboard.server.uploads import SUFFIXES, receive

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
    grouped = all_series()
    # Of a series only the last network is listed by itself.
    within = {key for series in grouped for key in series.keys[:-1]} - {link["run"]}
    found = [info for info in runs() if info.key not in within]
    for series in grouped:
        _describe_series(series, link)
    notes = {info.key: read_notes(info.key) for info in found}
    for info in sorted(found, key=lambda info: not notes[info.key].star):
        is_open = info.key == link["run"]
        with st.container(horizontal=True, vertical_alignment="center", key=f"run_{info.key}"):
            _describe(info, is_open, notes[info.key])
            if info.finished and not is_open:
                st.button("Open", key=f"open_{info.key}", on_click=switch_run, args=(info.key,))
                st.page_link("pages/14_Compare.py", label="Compare", query_params={**link, "other": info.key})
            if not info.finished and computations.jobs().get(info.key) is None:
                st.button("Resume", key=f"continue_{info.key}", on_click=computations.start, args=(info.spec,))
            _delete_button(info)


def _describe_series(series: Series, link: dict[str, str]) -> None:
    """One row for all runs of a series: its page, and how to be rid of it."""
    with st.container(horizontal=True, vertical_alignment="center", key=f"series_{series.key}"):
        about = f":small[:gray[series {series.key}]]"
        st.markdown(f"{literal.markdown(series.title)}  \n{about}", width="stretch")
        there = {**link, "run": series.keys[-1], "series": series.key}
        st.page_link("pages/12_Training.py", label="Training", query_params=there)
        with st.popover("Delete", key=f"delete_series_{series.key}"):
            st.markdown("Its last run stays; computing the others again takes as long as it did.")
            st.button(
                f"Delete {len(series.keys) - 1} checkpoints",
                key=f"really_series_{series.key}",
                on_click=_delete_series,
                args=(series,),
            )


def _delete_series(series: Series) -> None:
    drop_series(series.key)
    for key in series.keys[:-1]:
        _delete(key)


def _describe(info: RunInfo, is_open: bool, notes: Notes) -> None:
    day = datetime.fromtimestamp(info.created).strftime("%Y-%m-%d %H:%M")
    state = " · **open**" if is_open else "" if info.finished else " · not finished"
    about = f":small[:gray[{info.key} · {size(info.bytes)} · {day}]]"
    st.markdown(f"{literal.markdown(titled(info.spec.summary, notes))}{state}  \n{about}", width="stretch")


def _delete_button(info: RunInfo) -> None:
    job = computations.jobs().get(info.key)
    busy = job is not None and job.status().active
    with st.popover("Delete", disabled=busy, key=f"delete_{info.key}"):
        st.markdown("Computing this run again takes as long as it did.")
        st.button(f"Delete {size(info.bytes)}", key=f"really_{info.key}", on_click=_delete, args=(info.key,))


def _delete(key: str) -> None:
    try:
        delete_run(key)
    except DNTKError as error:
        # Another session may have deleted it already.
        st.toast(literal.markdown(str(error)), icon=":material/info:")
    cached.forget(key)
    computations.jobs().forget(key)
