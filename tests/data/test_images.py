"""Images: decoded on demand, brought to size and to RGB, harmless whatever the file holds."""

import errno
import time

import numpy as np
import pytest
from pictures import HARMFUL, paint
from PIL import Image

from dntk_core.base import errors
from dntk_core.base.errors import DNTKError
from dntk_core.data.images import (
    ImageArray,
    ImageFiles,
    Unreadable,
    as_images,
    check_header,
    in_batches,
    readable,
    stored,
)
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


def test_a_jpeg_of_many_scans_is_refused_before_it_is_decoded(tmp_path):
    Image.new("RGB", (64, 64), (200, 30, 30)).save(tmp_path / "x.jpg", progressive=True)
    assert ImageFiles((tmp_path / "x.jpg",), 8, 8)[[0]].shape == (1, 3, 8, 8)
    content = (tmp_path / "x.jpg").read_bytes()
    last = content.rindex(b"\xff\xda")
    (tmp_path / "x.jpg").write_bytes(content[:last] + content[last:-2] * 200 + b"\xff\xd9")
    with pytest.raises(DNTKError, match="more than 100 scans"):
        ImageFiles((tmp_path / "x.jpg",), 8, 8)[[0]]


def test_a_jpeg_of_many_scans_is_refused_with_a_preview_inside_too(tmp_path):
    """Pillow calls these MPO, and decodes them as any JPEG."""
    images = [Image.new("RGB", (64, 64), colour) for colour in ("red", "blue")]
    images[0].save(tmp_path / "x.jpg", "MPO", save_all=True, append_images=images[1:])
    assert Image.open(tmp_path / "x.jpg").format == "MPO" and ImageFiles((tmp_path / "x.jpg",), 8, 8).readable(0)
    with open(tmp_path / "x.jpg", "ab") as file:
        file.write(b"\xff\xda" * 200)
    with pytest.raises(DNTKError, match="more than 100 scans"):
        ImageFiles((tmp_path / "x.jpg",), 8, 8)[[0]]


def test_an_image_that_cannot_be_read_now_is_not_taken_for_a_broken_one(tmp_path, monkeypatch):
    """A broken one stays out of a run, which would then be computed on other inputs."""
    Image.new("RGB", (4, 4)).save(tmp_path / "x.png")
    files = ImageFiles((tmp_path / "x.png",), 4, 4)

    def fail(*_, **__):
        raise OSError(errno.EMFILE, "Too many open files")

    with monkeypatch.context() as patch:
        patch.setattr(Image, "open", fail)
        for act in (lambda: files[:], lambda: files.readable(0)):
            with pytest.raises(errors.Unreadable, match=r"cannot be read now .*Too many open files"):
                act()
    assert files.readable(0) and not files.unreadable


def test_large_images_are_decoded_one_at_a_time(tmp_path, monkeypatch):
    at_once, most = [], []
    monkeypatch.setattr("dntk_core.data.images.LARGE", 100)

    def resize(image, size, wanted):
        at_once.append(1)
        time.sleep(0.01)
        most.append(len(at_once))
        at_once.pop()
        return image.resize((size, size))

    monkeypatch.setattr("dntk_core.data.images._resize_and_crop", resize)
    for i in range(6):
        Image.new("RGB", (20, 20)).save(tmp_path / f"{i}.png")
    ImageFiles(tuple(tmp_path / f"{i}.png" for i in range(6)), 8, 8, workers=4)[:]
    assert most == [1] * 6


RAMP = np.linspace(0, 65535, 16).reshape(4, 4).astype(np.uint16)
DEEP = {
    "grey.png": lambda path: Image.fromarray(RAMP).save(path),
    "grey.tif": lambda path: Image.fromarray(RAMP).save(path),
    "float.tif": lambda path: Image.fromarray(RAMP.astype(np.float32) / 65535).save(path),
    "grey.pgm": lambda path: path.write_bytes(b"P5\n4 4\n65535\n" + RAMP.astype(">u2").tobytes()),
    "eight.png": lambda path: Image.fromarray(np.rint(RAMP / 257).astype(np.uint8)).save(path),
}


@pytest.mark.parametrize("name", DEEP)
def test_deep_images_are_scaled_by_the_range_of_their_format(tmp_path, name):
    DEEP[name](tmp_path / name)
    (decoded,) = ImageFiles((tmp_path / name,), 4, 4)[:]
    np.testing.assert_allclose(decoded, np.broadcast_to(RAMP / 65535, (3, 4, 4)), atol=0.5 / 255)


@pytest.mark.parametrize(
    ("pixels", "says"),
    [
        (RAMP.astype(np.int32), "32-bit integers"),
        (RAMP.astype(np.float32), r"outside \[0, 1\]"),
        (np.full((4, 4), np.nan, np.float32), r"outside \[0, 1\]"),
    ],
)
def test_images_of_no_known_range_are_refused(tmp_path, pixels, says):
    Image.fromarray(pixels).save(tmp_path / "x.tif")
    with pytest.raises(DNTKError, match=says):
        ImageFiles((tmp_path / "x.tif",), 4, 4)[:]


def test_all_broken_files_of_a_batch_are_named_at_once(tmp_path):
    for i in range(4):
        Image.new("RGB", (4, 4)).save(tmp_path / f"{i}.png")
    for i in (1, 3):
        (tmp_path / f"{i}.png").write_bytes(b"broken")
    files = ImageFiles(tuple(tmp_path / f"{i}.png" for i in range(4)), 4, 4)
    with pytest.raises(Unreadable, match=r"2 files cannot be read as an image: .*1\.png, .*3\.png") as caught:
        files[:]
    assert caught.value.places == [1, 3]
    assert files.unreadable == {str(tmp_path / "1.png"), str(tmp_path / "3.png")}
