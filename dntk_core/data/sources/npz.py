"""Arrays of images and labels in one .npz file."""

from pathlib import Path

import numpy as np

from dntk_core.base.errors import DNTKError
from dntk_core.base.spec import DataSpec
from dntk_core.data.archives import read_npz
from dntk_core.data.sources.source import RawDataset, Split, existing_path, resized

ARRAYS = ("train_images", "train_labels", "test_images", "test_labels")


def load(spec: DataSpec) -> RawDataset:
    """Load train_images (n, channels, height, width), train_labels (n,), test_images, test_labels; 8-bit or [0, 1]."""
    path = existing_path(spec, "an .npz file")
    arrays = read_npz(path)
    missing = [name for name in ARRAYS if name not in arrays]
    if missing:
        raise DNTKError(f"{path} lacks {', '.join(missing)}; it needs {', '.join(ARRAYS)}")
    names = _names(arrays, path)
    train, test = (_split(arrays, part, len(names), spec, path) for part in ("train", "test"))
    return RawDataset(train, test, names, flip=False)


def _names(arrays: dict[str, np.ndarray], path: Path) -> tuple[str, ...]:
    """The names of the classes: as given, else the numbers up to the highest label."""
    if "class_names" not in arrays:
        labels = arrays["train_labels"]
        highest = int(labels.max()) if labels.dtype.kind in "iu" and labels.size else 0
        # A label may be any number; each class has at least one image.
        return tuple(map(str, range(min(highest + 1, labels.size))))
    names = arrays["class_names"]
    if names.ndim != 1 or len(names) > arrays["train_labels"].size:
        raise DNTKError(f"class_names in {path} must be a list of names, each of a class with training images")
    return tuple(map(str, names))


def _split(arrays: dict[str, np.ndarray], part: str, classes: int, spec: DataSpec, path: Path) -> Split:
    images, labels = arrays[f"{part}_images"], arrays[f"{part}_labels"]
    if images.ndim != 4 or images.shape[1] not in (1, 3) or images.shape[2] != images.shape[3] or not images.shape[2]:
        raise DNTKError(f"{part}_images in {path} must be (n, 1 or 3, size, size), got {images.shape}")
    if images.dtype.kind not in "buif":
        raise DNTKError(f"{part}_images in {path} must be numbers, got {images.dtype}")
    if labels.shape != (len(images),) or labels.dtype.kind not in "iu":
        raise DNTKError(f"{part}_labels in {path} must be {len(images)} integers, got {labels.dtype} {labels.shape}")
    if len(labels) and not (labels.min() >= 0 and labels.max() < classes):
        raise DNTKError(f"{part}_labels in {path} must lie in 0..{classes - 1}")
    if images.dtype != np.uint8:
        images = images.astype(np.float32)
        # A NaN fails both comparisons.
        if len(images) and not (images.min() >= 0 and images.max() <= 1):
            raise DNTKError(f"{part}_images in {path} must lie in [0, 1] or be 8-bit; scale them")
    return Split(resized(images, spec), labels.astype(np.int64))
