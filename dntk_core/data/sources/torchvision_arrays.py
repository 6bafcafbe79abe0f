"""Datasets of torchvision that fit in memory: MNIST and its like, CIFAR."""

from typing import Any

import numpy as np

from dntk_core.base.errors import DNTKError
from dntk_core.base.spec import DataSpec
from dntk_core.data.sources.source import Loader, RawDataset, Split, download_folder, resized


def loader(class_name: str, flip: bool) -> Loader:
    """A loader of the dataset that torchvision has under this name, downloaded if it is not there."""

    def load(spec: DataSpec) -> RawDataset:
        import torchvision.datasets

        dataset, folder = getattr(torchvision.datasets, class_name), download_folder(spec)
        try:
            parts = [dataset(folder, train=train, download=True) for train in (True, False)]
        except (OSError, RuntimeError) as error:
            raise DNTKError(f"{class_name} is neither in {folder} nor could it be downloaded: {error}") from None
        train, test = (_split(part, spec) for part in parts)
        return RawDataset(train, test, tuple(map(str, parts[0].classes)), flip)

    return load


def _split(part: Any, spec: DataSpec) -> Split:
    """The images of a torchvision dataset with the channels in front, and its labels."""
    images = np.asarray(part.data)
    images = images[:, None] if images.ndim == 3 else images.transpose(0, 3, 1, 2)
    return Split(resized(images, spec), np.asarray(part.targets, dtype=np.int64))
