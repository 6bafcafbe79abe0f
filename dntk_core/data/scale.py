"""What images are normalised with: mean and deviation per channel."""

import numpy as np

from dntk_core.base.errors import DNTKError
from dntk_core.base.spec import DataSpec
from dntk_core.data.images import ImageFiles, Images

IMAGENET_MEAN, IMAGENET_STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
# Images that the mean and deviation of an array are measured on.
MEASURED = 10_000


def scale(spec: DataSpec, images: Images) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Mean and deviation per channel: as given, ImageNet's for image files, measured for arrays."""
    if spec.mean or spec.std:
        return _numbers("mean", spec.mean, images.shape[1]), _numbers("std", spec.std, images.shape[1])
    if isinstance(images, ImageFiles):
        return IMAGENET_MEAN, IMAGENET_STD
    some = images[:MEASURED]
    mean, std = some.mean((0, 2, 3), dtype=np.float64), some.std((0, 2, 3), dtype=np.float64)
    return tuple(map(float, mean)), tuple(float(value) or 1.0 for value in std)


def _numbers(name: str, text: str, channels: int) -> tuple[float, ...]:
    try:
        values = tuple(float(part) for part in text.split(","))
    except ValueError:
        values = ()
    if len(values) != channels or (name == "std" and min(values) <= 0):
        raise DNTKError(f"{name} must be {channels} numbers separated by commas, got {text!r}")
    return values
