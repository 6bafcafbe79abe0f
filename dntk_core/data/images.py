"""Images that are decoded when they are asked for: no dataset is ever held in memory."""

import errno
import os
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, TypeVar

import numpy as np
from PIL import Image, ImageOps
from PIL.JpegImagePlugin import JpegImageFile

from dntk_core.base import errors
from dntk_core.base.errors import DNTKError
from dntk_core.cache.rows import Array

SUFFIXES = {".jpg", ".jpeg", ".png", ".bmp", ".gif", ".ppm", ".pgm", ".tif", ".tiff", ".webp"}
# Some formats that Pillow knows start other programs.
FORMATS = ("JPEG", "PNG", "BMP", "GIF", "PPM", "TIFF", "WEBP")
# More pixels than this in one file, or in what it is resized to, is an attack or a mistake.
MOST_PIXELS = 80_000_000
# Passes over a progressive JPEG; encoders make some ten.
MOST_SCANS = 100
LARGE = 12_000_000
_ONE_LARGE = threading.Lock()
# Images held as numbers with a point while many are brought to 8 bits.
BATCH = 64
# Formats whose grey images Pillow opens as 32-bit integers though they have 16 bits.
SIXTEEN_BITS = ("PNG", "PPM")
Item = TypeVar("Item", covariant=True)


class Unreadable(DNTKError):
    """Files that cannot be read: `places` of them in the index that was asked for."""

    def __init__(self, errors: dict[int, DNTKError], names: list[str], shown: int = 5):
        self.places = list(errors)
        more = f" and {len(names) - shown:,} more" if len(names) > shown else ""
        several = f"{len(names)} files cannot be read as an image: {', '.join(names[:shown])}{more}; remove them"
        super().__init__(several if len(names) > 1 else str(next(iter(errors.values()))))


class Indexable(Protocol[Item]):
    """What gives a batch for an array of indices."""

    def __getitem__(self, index: Any, /) -> Item: ...


class File(Protocol):
    """What an image is read from: a path is one, and so is a row of a table that holds the bytes of a file."""

    def open(self, mode: Any, /) -> Any: ...

    def read_bytes(self) -> bytes: ...


class Images(Indexable[np.ndarray], Protocol):
    """Images as an array (n, channels, height, width) in [0, 1], decoded when indexed: a NumPy array is one."""

    @property
    def shape(self) -> tuple[int, ...]: ...

    def __len__(self) -> int: ...


@dataclass(frozen=True)
class ImageFiles:
    """Image files as an array (n, 3, size, size) in [0, 1]: indexing decodes, in parallel.

    The shorter side is resized to `resize`, then the middle size × size is cut out; grey becomes RGB, alpha is dropped.
    """

    paths: tuple[File, ...]
    size: int
    resize: int
    workers: int = field(default_factory=lambda: min(8, os.cpu_count() or 1))
    # Files that were met and could not be read.
    unreadable: set[str] = field(default_factory=set, compare=False)

    def __len__(self) -> int:
        return len(self.paths)

    @property
    def shape(self) -> tuple[int, int, int, int]:
        return len(self), 3, self.size, self.size

    def __getitem__(self, index: Any) -> np.ndarray:
        """Decode the chosen images: (b, 3, size, size) float32; Unreadable names all files that cannot be."""
        chosen = np.arange(len(self))[index]
        with ThreadPoolExecutor(self.workers) as pool:
            decoded = list(pool.map(self._tried, chosen))
        if bad := {place: item for place, item in enumerate(decoded) if isinstance(item, DNTKError)}:
            raise Unreadable(bad, [self.name(i) for i in chosen[list(bad)]])
        images = [item for item in decoded if isinstance(item, np.ndarray)]
        return np.stack(images).astype(np.float32) / 255 if images else np.empty((0, *self.shape[1:]), np.float32)

    def _tried(self, i: int) -> np.ndarray | DNTKError:
        """What decodes, or why it does not; a disk that fails is not the image's fault."""
        try:
            return self.decode(i)
        except errors.Unreadable:
            raise
        except DNTKError as error:
            return error

    def decode(self, i: int) -> np.ndarray:
        """Decode one image: (3, size, size) uint8."""
        path = self.paths[i]
        try:
            with path.open("rb") as file, Image.open(file, formats=FORMATS) as image, _in_turn(image.size):
                _check_pixels(image.size, self.resize)
                _check_scans(path, image)
                upright = _eight_bits(ImageOps.exif_transpose(image), image.format)
                fitted = _resize_and_crop(upright, self.size, self.resize)
        # A decoder may raise anything at a file that was made to break it.
        except Exception as error:
            if _passing(error):
                raise errors.Unreadable(f"{path} cannot be read now ({error}); try again") from error
            self.unreadable.add(str(path))
            raise DNTKError(f"{path} cannot be read as an image ({error}); replace or remove it") from error
        return np.asarray(fitted).transpose(2, 0, 1)

    def readable(self, i: int) -> bool:
        """Whether the image decodes completely."""
        return isinstance(self._tried(i), np.ndarray)

    def name(self, i: int) -> str:
        return str(self.paths[i])


@dataclass(frozen=True)
class ImageArray:
    """An array of 8-bit or [0, 1] images (n, channels, height, width), cut to size × size unless that is 0."""

    array: Array
    size: int = 0

    def __len__(self) -> int:
        return len(self.array)

    @property
    def shape(self) -> tuple[int, int, int, int]:
        n, channels, height, width = self.array.shape
        return (n, channels, self.size, self.size) if self.size else (n, channels, height, width)

    @property
    def exact(self) -> bool:
        """Whether 8 bits hold the images without loss."""
        return self.array.dtype == np.uint8 and self.array.shape == self.shape

    def __getitem__(self, index: Any) -> np.ndarray:
        """The chosen images as float32 in [0, 1]; of one place, that image alone."""
        if isinstance(index, int | np.integer):
            return self[[index]][0]
        chosen = self.array[np.arange(len(self))[index]]
        chosen = chosen.astype(np.float32) / 255 if chosen.dtype == np.uint8 else chosen.astype(np.float32)
        if chosen.shape[1:] == self.shape[1:]:
            return chosen
        return np.stack([_resize_planes(image, self.size) for image in chosen])

    def readable(self, i: int) -> bool:
        return bool(np.isfinite(self.array[i]).all())

    def name(self, i: int) -> str:
        return f"image {i}"


def readable(images: Any, i: int) -> bool:
    """Whether input i can be used: an image's file decodes, its numbers are finite; other inputs are checked before."""
    return images.readable(i) if isinstance(images, ImageArray | ImageFiles) else True


def stored(images: Indexable[np.ndarray], index: np.ndarray) -> np.ndarray:
    """The chosen images as they are kept in the cache: 8-bit where they came from 8 bits, a quarter of the size."""
    eight_bits = isinstance(images, ImageFiles) or (isinstance(images, ImageArray) and images.exact)
    if not eight_bits or not len(index):
        return images[index]
    return np.concatenate([np.rint(batch * 255).astype(np.uint8) for batch in in_batches(images, index, BATCH)])


def as_images(array: Array) -> Array | ImageArray:
    """Images that were kept as 8 bits, in [0, 1] again when indexed."""
    return ImageArray(array) if array.dtype == np.uint8 else array


def split(index: np.ndarray, batch: int) -> list[np.ndarray]:
    """Cut an index into batches; a single one left over joins the last, since no batch norm learns from one input.

    >>> [len(part) for part in split(np.arange(9), 4)]
    [4, 5]
    """
    parts = [index[start : start + batch] for start in range(0, len(index), batch)]
    if batch > 1 and len(parts) > 1 and len(parts[-1]) == 1:
        parts[-2:] = [np.concatenate(parts[-2:])]
    return parts


def in_batches(images: Indexable[Item], index: np.ndarray, batch: int) -> Iterator[Item]:
    """Index batch after batch, each decoded while the one before is being used."""
    return in_parts(images, [index[start : start + batch] for start in range(0, len(index), batch)])


def in_parts(images: Indexable[Item], parts: Sequence[np.ndarray]) -> Iterator[Item]:
    """Index part after part, each decoded while the one before is being used."""
    with ThreadPoolExecutor(1) as pool:
        ahead = [pool.submit(images.__getitem__, part) for part in parts[:1]]
        for following in [*parts[1:], None]:
            ready = ahead.pop().result()
            if following is not None:
                ahead.append(pool.submit(images.__getitem__, following))
            yield ready


def find_images(folder: Path) -> tuple[tuple[Path, ...], tuple[str, ...]]:
    """Image files of a class folder by name, and the names of the other files."""
    files = sorted(path for path in folder.rglob("*") if path.is_file() and not path.name.startswith("."))
    images = tuple(path for path in files if path.suffix.lower() in SUFFIXES)
    return images, tuple(str(path) for path in files if path.suffix.lower() not in SUFFIXES)


def check_header(path: Path) -> None:
    """Refuse an image file that claims more pixels than are ever decoded; ignore files that are not images."""
    try:
        with Image.open(path, formats=FORMATS) as image:
            pixels = image.width * image.height
    except Image.DecompressionBombError:
        pixels = MOST_PIXELS + 1
    # A decoder may raise anything at a file that was made to break it.
    except Exception:
        return
    if pixels > MOST_PIXELS:
        raise DNTKError(f"{path} has more than {MOST_PIXELS // 10**6} million pixels; make it smaller")


def _passing(error: Exception) -> bool:
    """Whether the system refused to read: decoders give no number, or that of a place before the file's start."""
    return isinstance(error, OSError) and error.errno not in (None, errno.EINVAL)


def _in_turn(size: tuple[int, int]) -> AbstractContextManager:
    """Large images are decoded one at a time: each takes some ten bytes a pixel."""
    return _ONE_LARGE if size[0] * size[1] > LARGE else nullcontext()


def _check_scans(path: File, image: Image.Image) -> None:
    """Refuse a JPEG of many scans: each goes over all pixels again, and costs its maker a few bytes."""
    # By its class: with a preview inside, Pillow calls its format another.
    if isinstance(image, JpegImageFile) and path.read_bytes().count(b"\xff\xda") > MOST_SCANS:
        raise DNTKError(f"it has more than {MOST_SCANS} scans")


def _eight_bits(image: Image.Image, format: str | None) -> Image.Image:
    """An image as 8-bit RGB, its numbers scaled by the range of their format; Pillow alone would cut them off."""
    if image.mode.startswith("I;16") or (image.mode == "I" and format in SIXTEEN_BITS):
        return _from_unit(np.asarray(image) / 65535)
    if image.mode == "I":
        raise DNTKError("it has 32-bit integers, whose range nobody knows; save it with 8 or 16 bits")
    if image.mode == "F":
        pixels = np.asarray(image)
        # A NaN fails both comparisons.
        if not (pixels.min() >= 0 and pixels.max() <= 1):
            raise DNTKError("it has floating point numbers outside [0, 1]; scale them")
        return _from_unit(pixels)
    return image.convert("RGB")


def _from_unit(pixels: np.ndarray) -> Image.Image:
    """Grey values in [0, 1] as an RGB image."""
    return Image.fromarray(np.rint(255 * pixels).astype(np.uint8)).convert("RGB")


def _check_pixels(size: tuple[int, int], resize: int) -> None:
    """Refuse an image too large to decode, or so long and thin that resizing would make it too large."""
    shorter, longer = min(size), max(size)
    if shorter * longer > MOST_PIXELS or resize**2 * longer > MOST_PIXELS * max(shorter, 1):
        raise DNTKError(f"it has {size[0]} × {size[1]} pixels")


def _resize_and_crop(image: Image.Image, size: int, resize: int) -> Image.Image:
    """Resize the shorter side to `resize`, cut out the middle size × size."""
    if min(image.size) != resize:
        scale = resize / min(image.size)
        image = image.resize([max(size, round(side * scale)) for side in image.size], Image.Resampling.BILINEAR)
    left, top = (image.width - size) // 2, (image.height - size) // 2
    return image.crop((left, top, left + size, top + size))


def _resize_planes(image: np.ndarray, size: int) -> np.ndarray:
    planes = [_resize_and_crop(Image.fromarray(plane), size, size) for plane in image]
    return np.stack([np.asarray(plane) for plane in planes])
