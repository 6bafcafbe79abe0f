"""Images: decoded on demand, brought to size and to RGB, harmless whatever the file holds."""

import numpy as np
import pytest
from pictures import HARMFUL, paint
from PIL import Image

from dntk_core.base.errors import DNTKError
from dntk_core.data.images import ImageArray, ImageFiles, as_images, check_header, in_batches, readable, stored
from tests import watch


def test_the_shorter_side_is_resized_and_the_middle_taken(tmp_path):
    image = np.zeros((40, 80, 3), np.uint8)
    image[:, 20:60] = 255
    Image.fromarray(image).save(tmp_path / "x.png")
    cut = ImageFiles((tmp_path / "x.png",), size=20, resize=20)[[0]]
    assert cut.shape == (1, 3, 20, 20) and cut.min() > 0.8
    wider = ImageFiles((tmp_path / "x.png",), size=20, resize=40)[[0]]
    assert wider.min() == 1.0


@pytest.mark.parametrize(("mode", "colour"), [("L", 128), ("RGBA", (255, 0, 0, 10)), ("P", 3), ("CMYK", (0, 0, 0, 0))])
def test_grey_alpha_palette_and_cmyk_become_rgb(tmp_path, mode, colour):
    suffix = "tif" if mode == "CMYK" else "png"
    paint(tmp_path / f"x.{suffix}", colour, mode=mode)
    assert ImageFiles((tmp_path / f"x.{suffix}",), 8, 8)[[0]].shape == (1, 3, 8, 8)


def test_a_long_thin_image_is_refused_before_it_is_enlarged(tmp_path):
    Image.new("RGB", (1, 20_000)).save(tmp_path / "x.png")
    with pytest.raises(DNTKError, match="1 × 20000 pixels"):
        ImageFiles((tmp_path / "x.png",), 224, 224)[[0]]


def test_postscript_starts_no_program(tmp_path):
    (tmp_path / "x.png").write_bytes(HARMFUL["postscript"])
    with watch.outside(tmp_path) as found, pytest.raises(DNTKError, match="cannot be read as an image"):
        ImageFiles((tmp_path / "x.png",), 8, 8)[[0]]
    assert not found


def test_batches_are_decoded_one_ahead_and_no_more():
    asked = []

    class Images:
        def __getitem__(self, index):
            asked.append(len(index))
            return index

    stream = in_batches(Images(), np.arange(10), 4)
    first = next(stream)
    assert first.tolist() == [0, 1, 2, 3] and sum(asked) <= 8
    assert [len(part) for part in stream] == [4, 2]


def test_eight_bit_arrays_are_kept_as_eight_bits():
    array = np.random.default_rng(0).integers(0, 256, (5, 1, 4, 4), dtype=np.uint8)
    kept = stored(ImageArray(array, 4), np.array([3, 1]))
    assert kept.dtype == np.uint8 and np.array_equal(kept, array[[3, 1]])
    np.testing.assert_allclose(as_images(kept)[:], array[[3, 1]] / 255, rtol=1e-6)
    plain = array.astype(np.float32) / 255
    assert stored(plain, np.array([0])).dtype == np.float32 and as_images(plain) is plain


def test_an_array_of_images_is_resized_when_indexed():
    images = ImageArray(np.full((3, 1, 4, 4), 255, np.uint8), 8)
    assert images.shape == (3, 1, 8, 8) and len(images) == 3
    assert images[:2].shape == (2, 1, 8, 8) and images[0].shape == (1, 8, 8) and images[:].min() == 1.0


def test_images_that_are_not_finite_are_not_readable():
    array = np.zeros((2, 1, 4, 4), np.float32)
    array[1, 0, 0, 0] = np.nan
    assert [readable(ImageArray(array, 4), i) for i in (0, 1)] == [True, False]
    assert readable(array, 1)


def test_the_header_of_an_image_bounds_its_pixels(tmp_path):
    for name, content in (("bomb.png", HARMFUL["400 megapixels"]), ("notes.png", b"no image"), ("x.png", None)):
        paint(tmp_path / name, 3, mode="L") if content is None else (tmp_path / name).write_bytes(content)
    check_header(tmp_path / "notes.png")
    check_header(tmp_path / "x.png")
    with pytest.raises(DNTKError, match="more than 80 million pixels"):
        check_header(tmp_path / "bomb.png")
