"""Images alone are moved in training, and only as their data allow."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from dntk_core.base.spec import DataSpec, ModelSpec
from dntk_core.data.dataset import load_data
from dntk_core.models.augmentation import augmentation, mirrored, shifted

DIGITS = load_data(DataSpec())


def test_it_belongs_to_the_data():
    assert augmentation(DIGITS, ModelSpec()) is shifted
    assert augmentation(replace(DIGITS, flip=True), ModelSpec()) is mirrored
    assert augmentation(DIGITS, ModelSpec(augment="none")) is None
    for kind in ("table", "tokens", "array"):
        assert augmentation(replace(DIGITS, kind=kind, flip=True), ModelSpec()) is None


@pytest.mark.parametrize("move", [shifted, mirrored])
def test_a_moved_image_has_the_same_pixels(move):
    x = torch.arange(2 * 3 * 32 * 16.0).reshape(2, 3, 32, 16)
    y = move(x, torch.Generator().manual_seed(1))
    assert not torch.equal(x, y)
    assert np.array_equal(np.sort(x.numpy(), axis=None), np.sort(y.numpy(), axis=None))
