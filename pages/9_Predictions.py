"""Predictions: what one of them is made of, by the full kernel and by the distilled one."""

from collections.abc import Callable

import streamlit as st

from dntk_core.base.numbering import number
from dntk_core.dashboard.asking.explaining import chosen_gradient, chosen_input, explain_class, question_form
from dntk_core.dashboard.asking.opened import opened
from dntk_core.dashboard.choices.mixing import USES
from dntk_core.dashboard.choices.picks import Pick, on_click, pick
from dntk_core.dashboard.drawing.inputs import show_inputs
from dntk_core.dashboard.drawing.palette import BLUE, VERMILION
from dntk_core.dashboard.drawing.panel import Panel, show
from dntk_core.dashboard.drawing.recipe import copy_recipe
from dntk_core.dashboard.page import follow, page
from dntk_core.dashboard.sections import predictions


def open_input(index: int) -> None:
    """Open a kernel input."""
    pick(Pick.of("input", index))


def clicked(panel: Panel) -> Callable[[dict], None]:
    """What a click on a bar of a panel does."""
    return on_click(lambda point: predictions.pick_at(here, panel.key, point))


with page(predictions.TITLE, uses=USES) as here:
    index = chosen_input(here)
    question = question_form(here, index)
    with st.spinner("Explaining", show_time=True):
        found = predictions.explanation(here, question)
    left, right = st.columns([2, 3], gap="medium")
    # The answer is known for these sliders alone.
    logits, speakers, *synthetic = follow(
        here, lambda at: predictions.panels(at, question, found if at is here else None)
    )
    with left:
        show_inputs(here.run, "test", [index], predictions.notes(here, [index]), key="predictions_input")
        show(logits, on_click=explain_class)
    with right:
        show(speakers, on_click=clicked(speakers))
    opened(here)
    for_, against, _ = found.speakers(predictions.SPEAKERS)
    for title, inputs, colour in (("for", for_, BLUE), ("against", against, VERMILION)):
        with st.container(gap="xsmall"):
            st.markdown(f"##### Speak {title} it")
            words = [f"{number(i)} · {found.values[i]:+#.3g}" for i in inputs]
            frames, key = [colour] * len(inputs), f"predictions_{title}"
            show_inputs(here.run, "kernel", inputs.tolist(), words, frames, key=key, on_click=open_input)
    for panel in synthetic:
        show(panel, on_click=clicked(panel))
        values = predictions.behind(here, question, found, chosen_gradient(here, found))
        first = [i for i in abs(values).argsort()[::-1][: 2 * predictions.SPEAKERS].tolist() if values[i]]
        words = [f"{number(i)} · {values[i]:+#.3g}" for i in first]
        frames = [BLUE if values[i] > 0 else VERMILION for i in first]
        show_inputs(here.run, "kernel", first, words, frames, key="predictions_behind", on_click=open_input)
    copy_recipe(here, *predictions.calls(here, question), command=predictions.command(here, question))
