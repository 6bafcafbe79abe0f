"""Images that come normalised: shown in [0, 1], computed with as they came."""

import numpy as np
import pytest

from dntk_core.data.inputs import Arrays
from dntk_core.data.pictures import as_pictures, looks_like_images
from dntk_core.data.sources.source import Split

LABELS = np.arange(6) % 2


def raw(images):
    split = Split(Arrays(images), LABELS)
    return as_pictures(split, split, ("a", "b"))


def test_what_the_eye_sees_lies_in_0_to_1_and_normalising_gives_back_what_came():
    images = np.random.default_rng(0).normal([[[[0.0]], [[5.0]], [[-3.0]]]], 2, (6, 3, 4, 5)).astype(np.float32)
    found = raw(images)
    shown = found.train.inputs[np.arange(6)]
    assert shown.shape == found.train.inputs.shape == (6, 3, 4, 5) and shown.min() == 0 and shown.max() == 1
    mean, std = (np.reshape(part, (1, 3, 1, 1)) for part in (found.mean, found.std))
    np.testing.assert_allclose((shown - mean) / std, images, atol=1e-5)
    np.testing.assert_array_equal(found.train.inputs[2], shown[2])


def test_images_in_0_to_1_and_of_one_colour_stay_as_they_are():
    images = np.full((6, 1, 2, 2), 0.25, np.float32)
    assert np.array_equal(raw(images).train.inputs[np.arange(6)], images)
    assert np.isfinite(raw(images * 100).train.inputs[np.arange(6)]).all()


@pytest.mark.parametrize(
    "batch, looks",
    [
        (np.zeros((2, 3, 8, 8), np.float32), True),
        (np.zeros((2, 5, 8, 8), np.float32), False),
        (np.zeros((2, 3, 8, 8), np.int64), False),
        (np.zeros((2, 8), np.float32), False),
        ({"pixels": np.zeros((2, 3, 8, 8), np.float32)}, False),
    ],
)
def test_what_looks_like_images(batch, looks):
    assert looks_like_images(batch) is looks
