"""Inputs of a run as a person sees them, in one place: square pictures, never stretched, with two lines below each."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np
import streamlit as st
from streamlit.components.v2 import component

from dntk_core.base.errors import DNTKError
from dntk_core.dashboard import cached
from dntk_core.dashboard.drawing.words import in_words
from dntk_core.dashboard.figures.tiles import SMALL, picture
from dntk_core.data.images import Images
from dntk_core.data.inputs import IMAGE, Inputs, opened
from dntk_core.run.pipeline import Run

_CSS = """
.dntk-inputs { display: grid; grid-template-columns: repeat(auto-fill, minmax(76px, 1fr)); gap: 10px 8px; }
.dntk-input {
  display: flex; flex-direction: column; min-width: 0; margin: 0; padding: 0; border: none; background: none;
  color: var(--st-text-color); font: 12px/1.35 var(--st-font); text-align: left;
}
button.dntk-input { cursor: pointer; }
.dntk-input .shown {
  display: flex; align-items: center; justify-content: center; overflow: hidden;
  box-sizing: border-box; aspect-ratio: 1;
  background: var(--st-secondary-background-color); border: 2px solid var(--st-border-color); border-radius: 6px;
}
.dntk-input img { width: 100%; height: 100%; object-fit: contain; }
.dntk-input img.few { image-rendering: pixelated; }
.dntk-inputs:has(.words) { grid-template-columns: repeat(auto-fill, minmax(150px, 1fr)); }
.dntk-input .shown.words {
  display: block; aspect-ratio: auto; height: 122px; padding: 4px 6px; overflow-wrap: anywhere; white-space: pre-line;
}
.dntk-input .line { display: flex; gap: 8px; font-variant-numeric: tabular-nums; }
.dntk-input .line .name { flex: 1; opacity: 0.75; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
button.dntk-input:hover .shown, button.dntk-input:focus-visible .shown { border-color: var(--st-primary-color); }
.dntk-input .title { font-weight: 600; margin-top: 3px; }
.dntk-input .note { opacity: 0.75; }
.dntk-input .title, .dntk-input .note { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
"""

_render = component(
    "dntk_inputs",
    html='<div class="dntk-inputs"></div>',
    css=_CSS,
    js=Path(__file__).with_name("inputs.js").read_text(encoding="utf-8"),
    isolate_styles=False,
)


@dataclass(frozen=True)
class Card:
    """One input as it is shown.

    index:   its place in its split, from 0
    picture: a picture as a data address, or nothing
    few:     whether that has so few pixels that they are drawn as squares
    text:    what stands in a picture's place: a table's row, a text's words
    row:     whether that is a row, a column's name and its value on every line
    title, note: two short lines below it, plain text
    colour:  of its frame, or nothing
    """

    index: int
    picture: str = ""
    few: bool = False
    text: str = ""
    row: bool = False
    title: str = ""
    note: str = ""
    colour: str = ""


def show_inputs(
    run: Run,
    split: str,
    indices: Sequence[int],
    notes: Sequence[str] = (),
    colours: Sequence[str] = (),
    *,
    key: str,
    on_click: Callable[[int], None] | None = None,
) -> None:
    """Draw inputs of a split, "kernel" or "test", each under its class; a click calls `on_click` with the place of one.

    notes, colours: a second line and a frame for each, or none
    """
    listeners: dict[str, Any] = {}
    if on_click:
        listeners["on_click_change"] = lambda: on_click(int(st.session_state[key]["click"]))
    shown = [asdict(card) for card in cards(run, split, indices, notes, colours)]
    _render(key=key, data={"cards": shown, "clickable": on_click is not None}, **listeners)


def show_images(images: np.ndarray, titles: Sequence[str], note: str, *, key: str) -> None:
    """Draw images that are no inputs of a run, (b, channels, height, width), each with a title, all with one note."""
    few = max(images.shape[2:]) <= SMALL
    found = [Card(i, picture(image), few, title=titles[i], note=note) for i, image in enumerate(images)]
    _render(key=key, data={"cards": [asdict(card) for card in found], "clickable": False})


def cards(
    run: Run, split: str, indices: Sequence[int], notes: Sequence[str] = (), colours: Sequence[str] = ()
) -> list[Card]:
    """The inputs of a split as cards, in the order given."""
    inputs, labels = inputs_of(run, split), labels_of(run, split)
    found = []
    for place, index in enumerate(map(int, indices)):
        found.append(
            Card(
                index,
                **_face(run, inputs, split, index),
                title=run.class_names[labels[index]],
                note=notes[place] if notes else "",
                colour=colours[place] if colours else "",
            )
        )
    return found


def _face(run: Run, inputs: Inputs | None, split: str, index: int) -> dict[str, Any]:
    """What a card shows: a picture, or words in its place."""
    if inputs is None:
        return {"text": f"{split} input {index + 1}"}
    if run.kind != IMAGE:
        return {"text": in_words(run, inputs, index), "row": run.kind == "table"}
    return {"picture": picture(inputs[index]), "few": max(cast(Images, inputs).shape[2:]) <= SMALL}


def inputs_of(run: Run, split: str) -> Inputs | None:
    """The inputs of a split; None where they cannot be had any more."""
    if split == "kernel":
        return run.inputs
    try:
        found = cached.asked(run.key, "test_inputs")
    except DNTKError:
        # Their files may be gone; what is known of the inputs is shown all the same.
        return None
    return opened(found, found.note)


def labels_of(run: Run, split: str) -> np.ndarray:
    """The labels of a split."""
    return run.test_labels if split == "test" else run.train_labels
