"""Images for the eye: shown in [0, 1] and small, computed with as they came."""

import numpy as np
import pytest

from dntk_core.data.inputs import Arrays
from dntk_core.data.pictures import SIDE, as_pictures, looks_like_images, thumbnails
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


@pytest.mark.parametrize(("shape", "small"), [((3, 20, 30), (3, 20, 30)), ((1, 200, 400), (1, SIDE // 2, SIDE))])
def test_thumbnails_are_the_images_in_8_bits_large_ones_averaged_to_less(shape, small):
    images = np.broadcast_to(np.linspace(0, 1, shape[2], dtype=np.float32), (70, *shape))
    found = thumbnails(images, np.arange(69))
    assert found.shape == (69, *small) and found.dtype == np.uint8
    expected = np.interp((np.arange(small[2]) + 0.5) * shape[2] / small[2] - 0.5, np.arange(shape[2]), images[0, 0, 0])
    np.testing.assert_allclose(found[3, 0, 1] / 255, expected, atol=1.5 / 255)
