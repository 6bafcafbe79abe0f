"""Dataset distillation: from n images to m, beside every selection of real ones."""

import streamlit as st

from dntk_core.dashboard import cached, computations
from dntk_core.dashboard.page import page
from dntk_core.dashboard.panel import show
from dntk_core.dashboard.recipe import copy_recipe
from dntk_core.dashboard.sections import dataset
from dntk_core.dashboard.sidebar import switch_run

with page(dataset.TITLE, uses=("ridge",)) as here:
    spec = here.run.spec
    if not spec.distilled:
        wanted = dataset.distilled(spec)
        st.info("This run's kernel inputs are real images. Distil them into a few synthetic ones per class.")
        if computations.available(wanted.key):
            st.button("Open the distilled run", on_click=switch_run, args=(wanted.key,), type="primary")
        else:
            st.button("Distil these images", on_click=computations.start, args=(wanted,), type="primary")
            st.caption("Or as a command, with this run's other settings as they are by default:")
            st.code(f"python -m dntk_core build --distill wmdd --per-class {wanted.dataset.per_class}", language="bash")
        computations.follow((wanted.key,))
    else:
        classes = len(here.run.class_names)
        first = 0
        if classes > dataset.ROWS:
            first = st.number_input("Classes from", 0, classes - 1, 0, dataset.ROWS)
        other = dataset.sibling(spec)
        found = cached.run(other.key) if computations.available(other.key) else None
        gallery, losses, places, judged, bases = dataset.panels(here, first, found)
        left, right = st.columns([3, 2], gap="medium")
        with left:
            show(gallery)
        with right:
            show(places)
            show(losses)
        show(judged)
        show(bases)
        if found is None:
            label = f"Compute the network trained on {other.dataset.base} images"
            st.button(label, on_click=computations.start, args=(other,), type="primary")
            computations.follow((other.key,))
        copy_recipe(here, *dataset.calls(here))
