"""Dataset distillation: from n images to m, beside every selection of real ones."""

import shlex

import streamlit as st

from dntk_core.dashboard import cached
from dntk_core.dashboard.asking.opened import opened
from dntk_core.dashboard.choices.picks import on_click
from dntk_core.dashboard.choices.sidebar import switch_run
from dntk_core.dashboard.computing import computations
from dntk_core.dashboard.computing.distilling import how, so_far
from dntk_core.dashboard.computing.foretold import takes
from dntk_core.dashboard.drawing.panel import Panel, show
from dntk_core.dashboard.drawing.recipe import copy_recipe
from dntk_core.dashboard.drawing.words import many
from dntk_core.dashboard.page import page
from dntk_core.dashboard.sections import dataset
from dntk_core.data.inputs import IMAGE


def ask(panel: Panel) -> None:
    """Draw a panel; a click opens what a point of it stands for."""
    show(panel, on_click=on_click(lambda point: dataset.pick_at(here, panel.key, point)))


with page(dataset.TITLE, uses=lambda run: ("ridge",) if run.spec.distilled else ()) as here:
    spec, classes = here.run.spec, len(here.run.class_names)
    if here.run.kind != IMAGE:
        st.info(f"Dataset distillation makes pictures or selects them: there is none for {many(here.run)}.")
    elif not spec.distilled:
        st.markdown("This run's kernel inputs are real images. Distil them into a few synthetic ones per class.")
        wanted = how(here)
        if wanted is None:
            st.stop()
        if computations.available(wanted.key):
            st.button("Open the distilled run", on_click=switch_run, args=(wanted.key,), type="primary")
        else:
            st.caption(takes(wanted, classes))
            st.button("Distil these images", on_click=computations.start, args=(wanted,), type="primary")
        computations.follow((wanted.key,))
        if panel := so_far(here, wanted):
            show(panel)
        st.caption("As a command, with this run's other settings as they are by default:")
        made = wanted.dataset
        method = f"--dataset-method {shlex.quote(made.method)}"
        size = f"--per-class {made.per_class} --iterations {made.iterations}"
        st.code(f"python -m dntk_core build {method} {size}", language="bash")
    else:
        first = 0
        if classes > dataset.ROWS:
            first = st.number_input("Classes from", 0, classes - 1, 0, dataset.ROWS)
        other = dataset.sibling(spec)
        found = cached.run(other.key) if computations.available(other.key) else None
        real = dataset.original(spec)
        beside = cached.run(real.key) if computations.available(real.key) else None
        gallery, losses, places, judged, bases = dataset.panels(here, first, found, beside)
        ask(gallery)
        opened(here)
        left, right = st.columns(2, gap="medium")
        with left:
            ask(places)
        with right:
            ask(losses)
        ask(judged)
        larger = dataset.room_needed(here.run)
        if larger is not None and computations.available(larger.key):
            label = f"Open the run with k = {larger.projection.k:,}"
            st.button(label, on_click=switch_run, args=(larger.key,))
        elif larger is not None:
            label = f"Compute it with k = {larger.projection.k:,}"
            st.button(label, on_click=computations.start, args=(larger,), help=takes(larger, classes))
        ask(bases)
        if found is None:
            label = f"Compute the network trained on {other.dataset.base} images"
            st.button(label, on_click=computations.start, args=(other,), type="primary", help=takes(other, classes))
        computations.follow(tuple(run.key for run in (other, larger) if run is not None))
        copy_recipe(here, *dataset.calls(here))
