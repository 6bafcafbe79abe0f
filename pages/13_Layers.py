"""Layers: what every group of parameters brings to the kernel."""

from dataclasses import replace

import streamlit as st

from dntk_core.base.spec import RunSpec
from dntk_core.dashboard.asking.opened import opened
from dntk_core.dashboard.choices.picks import on_click
from dntk_core.dashboard.choices.sidebar import switch_run
from dntk_core.dashboard.computing import computations
from dntk_core.dashboard.computing.foretold import takes
from dntk_core.dashboard.drawing.panel import show
from dntk_core.dashboard.drawing.recipe import copy_recipe
from dntk_core.dashboard.page import follow, page
from dntk_core.dashboard.sections import layers


def compute(apart: RunSpec) -> None:
    """Compute the open run once more, with its blocks kept apart."""
    computations.start(apart)
    switch_run(apart.key)


with page(layers.TITLE, uses=lambda run: ("kernel", "ridge") if layers.kept(run) else ()) as here:
    if layers.kept(here.run):
        with st.spinner("Taking the kernel apart", show_time=True):
            shares, between = follow(here, layers.panels)
        show(shares, on_click=on_click(lambda point: layers.pick_at(here, shares.key, point)))
        opened(here)
        st.dataframe(layers.numbers(here), hide_index=True, height="content")
        show(between, on_click=on_click(lambda point: layers.pick_at(here, between.key, point)))
        copy_recipe(here, *layers.calls(here), command=layers.command(here))
    elif here.run.spec.from_python:
        st.info("This run, made in Python, kept no groups of parameters.")
    else:
        spec = here.run.spec
        apart = replace(spec, projection=replace(spec.projection, groups="blocks"))
        st.markdown(
            "Which parts of the network carry its kernel? This run kept no groups of parameters apart. Computing it "
            "with its blocks apart takes as long as its gradients did, and no more disk; `dntk build --groups` takes "
            "layers and patterns of names as well."
        )
        if computations.available(apart.key):
            st.button("Open the run with blocks apart", on_click=switch_run, args=(apart.key,), type="primary")
        else:
            st.caption(takes(apart, len(here.run.class_names)))
            st.button("Compute with blocks apart", on_click=compute, args=(apart,), type="primary")
