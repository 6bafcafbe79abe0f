"""Uncertainty: how sure network and kernels are, whether that can be trusted, and what shifts do to it."""

from collections.abc import Callable

import streamlit as st

from dntk_core.base.numbering import number
from dntk_core.dashboard.asking.opened import opened
from dntk_core.dashboard.asking.testing import show_tests
from dntk_core.dashboard.choices.picks import on_click
from dntk_core.dashboard.choices.tabs import tab
from dntk_core.dashboard.computing.shifting import choose_strength, chosen_shift, other_images, shifted_images
from dntk_core.dashboard.drawing.panel import Panel, show
from dntk_core.dashboard.drawing.recipe import copy_recipe
from dntk_core.dashboard.page import follow, page
from dntk_core.dashboard.sections import uncertainty
from dntk_core.run.also import added
from dntk_core.uses.uncertainty import NOISES


def clicked(panel: Panel) -> Callable[[dict], None]:
    """What a click on a point of a panel does."""
    return on_click(lambda point: uncertainty.pick_at(here, panel.key, point))


with page(uncertainty.TITLE, uses=uncertainty.USES) as here:
    choose = tab(here, "noise", tuple(NOISES), label="Noise by")
    with st.spinner("Weighing beliefs", show_time=True):
        (trust,) = follow(here, lambda here: uncertainty.panels(here, choose))
    show(trust, on_click=clicked(trust))
    # The histogram of the bar that is open, which stands below it.
    bar = here.picked.parts[0] if here.picked and here.picked.kind == "spread" else ""
    if not bar:
        opened(here)
    st.dataframe(uncertainty.numbers(here, choose), hide_index=True)
    least, most, deviation = uncertainty.ends(here, choose, 10)
    for title, index in (("Least certain", least), ("Most certain", most)):
        with st.container(gap="xsmall"):
            st.markdown(f"##### {title} test inputs")
            words = [f"{number(i)} · ±{deviation[i]:.2g}" for i in index]
            show_tests(here, index, words, key=f"uncertainty_{title.split()[0].lower()}")
    st.markdown("#### Shifted inputs")
    asked = chosen_shift(here)
    if asked is not None:
        artifact, name, strength = asked
        over, doubts = uncertainty.shift_panels(here, choose, artifact, name, strength)
        show(over, on_click=choose_strength)
        show(doubts, on_click=clicked(doubts))
        if doubts.key == f"uncertainty_{bar}":
            opened(here)
            bar = ""
        shifted_images(here, artifact, name)
    for panel, (title, artifact) in zip(uncertainty.foreign_panels(here, choose), added(here.run).items(), strict=True):
        show(panel, on_click=clicked(panel))
        if panel.key == f"uncertainty_{bar}":
            opened(here)
            bar = ""
        other_images(artifact, *uncertainty.foreign_ends(here, choose, artifact), key=title)
    if bar:
        opened(here)
    if words := uncertainty.adding(here):
        st.caption(words)
    shift = asked[1] if asked else None
    copy_recipe(here, *uncertainty.calls(here, choose, shift), command=uncertainty.command(here, choose, shift))
