"""Small images and datasets of them, good and bad."""

import numpy as np
import pytest
from PIL import Image

from dntk_core.base.errors import DNTKError
from dntk_core.base.spec import DataSpec
from dntk_core.data.dataset import load_data
from tests import hostile


def paint(path, colour, size=(20, 16), mode="RGB"):
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.new(mode, size, colour).save(path)


def spec(path, **more):
    return DataSpec("folder", str(path), size=8, **more)


def refused(data_spec) -> str:
    with pytest.raises(DNTKError) as caught:
        load_data(data_spec)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def write_npz(path, **changes):
    rng = np.random.default_rng(0)
    arrays = {
        "train_images": rng.integers(0, 255, (8, 1, 6, 6), dtype=np.uint8),
        "train_labels": np.arange(8) % 2,
        "test_images": rng.integers(0, 255, (4, 1, 6, 6), dtype=np.uint8),
        "test_labels": np.arange(4) % 2,
    } | changes
    np.savez(path, **{name: value for name, value in arrays.items() if value is not None})
    return DataSpec("npz", str(path))


HARMFUL = {
    "80 megapixels": hostile.png(9_000, 9_000),
    "400 megapixels": hostile.png(20_000, 20_000),
    "largest": hostile.png(2**31 - 1, 2**31 - 1),
    "postscript": b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 10 10\n%%EndComments\nshowpage\n",
    "empty": b"",
}
