"""Predictions: what one of them is made of, by the full kernel and by the distilled one."""

import streamlit as st

from dntk_core.base.numbering import number
from dntk_core.dashboard.asking.explaining import chosen_gradient, chosen_input, question_form
from dntk_core.dashboard.choices.mixing import USES
from dntk_core.dashboard.drawing.inputs import show_inputs
from dntk_core.dashboard.drawing.palette import BLUE, VERMILION
from dntk_core.dashboard.drawing.panel import show
from dntk_core.dashboard.drawing.recipe import copy_recipe
from dntk_core.dashboard.page import follow, page
from dntk_core.dashboard.sections import predictions

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
        show(logits)
    with right:
        show(speakers)
    for_, against, _ = found.speakers(predictions.SPEAKERS)
    for title, inputs, colour in (("for", for_, BLUE), ("against", against, VERMILION)):
        with st.container(gap="xsmall"):
            st.markdown(f"##### Speak {title} it")
            words = [f"{number(i)} · {found.values[i]:+.3g}" for i in inputs]
            show_inputs(here.run, "kernel", inputs.tolist(), words, [colour] * len(inputs), key=f"predictions_{title}")
    for panel in synthetic:
        show(panel)
        values = predictions.behind(here, question, found, chosen_gradient(here, found))
        first = [i for i in abs(values).argsort()[::-1][: 2 * predictions.SPEAKERS].tolist() if values[i]]
        words = [f"{number(i)} · {values[i]:+.3g}" for i in first]
        frames = [BLUE if values[i] > 0 else VERMILION for i in first]
        show_inputs(here.run, "kernel", first, words, frames, key="predictions_behind")
    copy_recipe(here, *predictions.calls(here, question), command=predictions.command(here, question))
