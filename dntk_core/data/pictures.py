"""Images for the eye: those that come as a network sees them brought to [0, 1], many of them made small."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from PIL import Image

from dntk_core.data.batch import Batch
from dntk_core.data.images import BATCH, Images, in_batches
from dntk_core.data.inputs import Inputs
from dntk_core.data.sources.source import RawDataset, Split

CHANNELS = (1, 3, 4)
# Images by which the range of a channel is judged.
MEASURED = 256
# Pixels of the longer side of an image that is only looked at.
SIDE = 160


@dataclass(frozen=True)
class Pictures:
    """Inputs (n, channels, height, width) brought to [0, 1] for the eye by (x − lowest)/spread of each channel."""

    inputs: Inputs
    lowest: np.ndarray
    spread: np.ndarray

    def __len__(self) -> int:
        return len(self.inputs)

    @property
    def shape(self) -> tuple[int, ...]:
        return len(self), *self.inputs[np.arange(1)].shape[1:]

    def __getitem__(self, index: Any) -> np.ndarray:
        if isinstance(index, int | np.integer):
            return self[[index]][0]
        shape = (1, -1, 1, 1)
        chosen = self.inputs[np.arange(len(self))[index]]
        return ((chosen - self.lowest.reshape(shape)) / self.spread.reshape(shape)).astype(np.float32)


def looks_like_images(example: Batch) -> bool:
    """Whether a batch is one array (b, 1, 3 or 4 channels, height, width) of numbers with a point."""
    return (
        isinstance(example, np.ndarray)
        and example.ndim == 4
        and example.shape[1] in CHANNELS
        and example.dtype.kind == "f"
    )


def as_pictures(train: Split, test: Split, names: tuple[str, ...]) -> RawDataset:
    """Images as a network sees them, shown in [0, 1]: mean and deviation undo what the eye needs."""
    some = np.unique(np.linspace(0, len(train.labels) - 1, MEASURED, dtype=np.int64))
    seen = train.inputs[some]
    lowest, highest = seen.min((0, 2, 3)), seen.max((0, 2, 3))
    # Images in [0, 1] are shown as they are.
    if lowest.min() >= 0 and highest.max() <= 1:
        lowest, highest = np.zeros_like(lowest), np.ones_like(highest)
    spread = np.where(highest > lowest, highest - lowest, 1).astype(np.float32)
    lowest = lowest.astype(np.float32)
    first, second = (Split(Pictures(split.inputs, lowest, spread), split.labels) for split in (train, test))
    mean, std = (-lowest / spread).tolist(), (1 / spread).tolist()
    return RawDataset(first, second, names, mean=tuple(mean), std=tuple(std))


def thumbnails(images: Images, index: np.ndarray) -> np.ndarray:
    """The chosen images as people see them, (b, channels, height, width) uint8, the longer side at most SIDE."""
    small = [_small(image) for batch in in_batches(images, index, BATCH) for image in batch]
    return np.stack(small) if small else np.empty((0, *images.shape[1:]), np.uint8)


def _small(image: np.ndarray) -> np.ndarray:
    planes = np.rint(255 * np.clip(image, 0, 1)).astype(np.uint8)
    height, width = planes.shape[1:]
    if (longer := max(height, width)) <= SIDE:
        return planes
    size = max(1, round(width * SIDE / longer)), max(1, round(height * SIDE / longer))
    return np.stack([np.asarray(Image.fromarray(plane).resize(size, Image.Resampling.BOX)) for plane in planes])
