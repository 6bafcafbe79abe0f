"""Images that are decoded when they are asked for: no dataset is ever held in memory."""

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, TypeVar

import numpy as np
from PIL import Image, ImageOps

from dntk_core.base.errors import DNTKError

SUFFIXES = {".jpg", ".jpeg", ".png", ".bmp", ".gif", ".ppm", ".pgm", ".tif", ".tiff", ".webp"}
# Some formats that Pillow knows start other programs.
FORMATS = ("JPEG", "PNG", "BMP", "GIF", "PPM", "TIFF", "WEBP")
# More pixels than this in one file, or in what it is resized to, is an attack or a mistake.
MOST_PIXELS = 80_000_000
Item = TypeVar("Item", covariant=True)


class Indexable(Protocol[Item]):
    """What gives a batch for an array of indices."""

    def __getitem__(self, index: Any, /) -> Item: ...


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

    paths: tuple[Path, ...]
    size: int
    resize: int
    workers: int = field(default_factory=lambda: min(8, os.cpu_count() or 1))

    def __len__(self) -> int:
        return len(self.paths)

    @property
    def shape(self) -> tuple[int, int, int, int]:
        return len(self), 3, self.size, self.size

    def __getitem__(self, index: Any) -> np.ndarray:
        """Decode the chosen images: (b, 3, size, size) float32."""
        chosen = np.arange(len(self))[index]
        with ThreadPoolExecutor(self.workers) as pool:
            decoded = list(pool.map(self.decode, chosen))
        return np.stack(decoded).astype(np.float32) / 255 if decoded else np.empty((0, *self.shape[1:]), np.float32)

    def decode(self, i: int) -> np.ndarray:
        """Decode one image: (3, size, size) uint8."""
        path = self.paths[i]
        try:
            with Image.open(path, formats=FORMATS) as image:
                _check_pixels(image.size, self.resize)
                fitted = _resize_and_crop(ImageOps.exif_transpose(image).convert("RGB"), self.size, self.resize)
        # A decoder may raise anything at a file that was made to break it.
        except Exception as error:
            raise DNTKError(f"{path} cannot be read as an image ({error}); replace or remove it") from error
        return np.asarray(fitted).transpose(2, 0, 1)

    def readable(self, i: int) -> bool:
        """Whether the image decodes completely."""
        try:
            self.decode(i)
        except DNTKError:
            return False
        return True

    def name(self, i: int) -> str:
        return str(self.paths[i])


@dataclass(frozen=True)
class ImageArray:
    """An array of 8-bit or [0, 1] images (n, channels, height, width), resized to size × size where asked."""

    array: np.ndarray
    size: int

    def __len__(self) -> int:
        return len(self.array)

    @property
    def shape(self) -> tuple[int, int, int, int]:
        return len(self), self.array.shape[1], self.size, self.size

    @property
    def exact(self) -> bool:
        """Whether 8 bits hold the images without loss."""
        return self.array.dtype == np.uint8 and self.array.shape[-1] == self.size

    def __getitem__(self, index: Any) -> np.ndarray:
        """The chosen images as float32 in [0, 1]; of one place, that image alone."""
        if isinstance(index, int | np.integer):
            return self[[index]][0]
        chosen = self.array[np.arange(len(self))[index]]
        chosen = chosen.astype(np.float32) / 255 if chosen.dtype == np.uint8 else chosen.astype(np.float32)
        if chosen.shape[2:] == (self.size, self.size):
            return chosen
        return np.stack([_resize_planes(image, self.size) for image in chosen])

    def readable(self, i: int) -> bool:
        return bool(np.isfinite(self.array[i]).all())

    def name(self, i: int) -> str:
        return f"image {i}"


def readable(images: Images, i: int) -> bool:
    """Whether image i can be used: its file decodes, its numbers are finite."""
    return images.readable(i) if isinstance(images, ImageArray | ImageFiles) else True


def stored(images: Images, index: np.ndarray) -> np.ndarray:
    """The chosen images as they are kept in the cache: 8-bit where they came from 8 bits, a quarter of the size."""
    chosen = images[index]
    eight_bits = isinstance(images, ImageFiles) or (isinstance(images, ImageArray) and images.exact)
    return np.rint(chosen * 255).astype(np.uint8) if eight_bits else chosen


def as_images(array: np.ndarray) -> np.ndarray | ImageArray:
    """Images that were kept as 8 bits, in [0, 1] again when indexed."""
    return ImageArray(array, array.shape[-1]) if array.dtype == np.uint8 else array


def in_batches(images: Indexable[Item], index: np.ndarray, batch: int) -> Iterator[Item]:
    """Index batch after batch, each decoded while the one before is being used."""
    parts = [index[start : start + batch] for start in range(0, len(index), batch)]
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
    planes = [Image.fromarray(plane).resize((size, size), Image.Resampling.BILINEAR) for plane in image]
    return np.stack([np.asarray(plane) for plane in planes])
