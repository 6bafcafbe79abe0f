"""Inputs as cards: the right picture over the right class, never stretched, small enough to send many."""

import base64
from io import BytesIO

import numpy as np
import pytest
from PIL import Image

from dntk_core.base.errors import DNTKError
from dntk_core.dashboard.drawing import inputs
from dntk_core.dashboard.drawing.inputs import cards
from dntk_core.dashboard.figures.tiles import picture
from dntk_core.data.pictures import SIDE
from dntk_core.run.asked import ask


def opened(address: str) -> np.ndarray:
    return np.asarray(Image.open(BytesIO(base64.b64decode(address.partition(",")[2]))).convert("RGB"))


def test_a_card_has_its_inputs_picture_class_and_note(default_run):
    found = cards(default_run, "kernel", [7, 3], notes=["seven", "three"], colours=["#000", ""])
    assert [(card.index, card.note, card.colour) for card in found] == [(7, "seven", "#000"), (3, "three", "")]
    for card in found:
        assert card.title == default_run.class_names[default_run.train_labels[card.index]]
        expected = (255 * default_run.images[card.index]).round().astype(np.uint8)
        assert card.few and np.array_equal(opened(card.picture)[..., 0], expected[0])


@pytest.mark.parametrize(("height", "width"), [(400, 400), (100, 400), (600, 200)])
def test_a_large_picture_is_made_small_in_proportion(height, width):
    image = np.random.default_rng(0).random((3, height, width))
    address = picture(image)
    drawn = opened(address)
    assert max(drawn.shape) == SIDE and abs(drawn.shape[0] / drawn.shape[1] - height / width) < 0.05
    assert len(address) < 60_000


def test_a_test_input_is_shown_as_its_run_has_kept_it(default_run):
    (card,) = cards(default_run, "test", [4])
    assert card.title == default_run.class_names[default_run.test_labels[4]]
    expected = ask(default_run, "test_inputs")["images"][4, 0]
    assert np.array_equal(opened(card.picture)[..., 0], expected)


def test_inputs_whose_files_are_gone_have_words_instead(default_run, monkeypatch):
    def gone(run, stage):
        raise DNTKError("gone")

    monkeypatch.setattr(inputs.cached, "asked", gone)
    (card,) = cards(default_run, "test", [4])
    assert card.text == "test input 5" and not card.picture
