"""Folders of image files, one for each class."""

from pathlib import Path

import numpy as np

from dntk_core.base.errors import DNTKError
from dntk_core.base.spec import DataSpec
from dntk_core.data.images import ImageFiles, find_images
from dntk_core.data.sources.source import RawDataset, Split, existing_path

DEFAULT_SIZE = 224
TRAIN_FOLDERS, TEST_FOLDERS = ("train",), ("val", "valid", "validation", "test")


def load(spec: DataSpec) -> RawDataset:
    """Load path/train/<class>/* and path/val/<class>/* (or valid, validation, test)."""
    root = existing_path(spec, "a folder with train/<class>/… and val/<class>/…")
    train, test = _subfolder(root, TRAIN_FOLDERS), _subfolder(root, TEST_FOLDERS)
    names, other = (sorted(path.name for path in part.iterdir() if path.is_dir()) for part in (train, test))
    if not names:
        raise DNTKError(f"{train} has no class folders; put each class's images into a folder of its own")
    if names != other:
        apart = sorted(set(names) ^ set(other))
        raise DNTKError(f"{train} and {test} have different classes: {', '.join(apart[:5])} in only one of them")
    size = spec.size or DEFAULT_SIZE
    train_split, skipped = _split(train, names, size, spec.resize or size)
    test_split, more = _split(test, names, size, spec.resize or size)
    return RawDataset(train_split, test_split, tuple(names), flip=True, skipped=(*skipped, *more))


def _split(part: Path, names: list[str], size: int, resize: int) -> tuple[Split, list[str]]:
    """The images below part/<class>, and the names of files that are not images."""
    found = [find_images(part / name) for name in names]
    paths = tuple(path for images, _ in found for path in images)
    if not paths:
        raise DNTKError(f"{part} holds no image files (.jpg, .png, …)")
    labels = np.repeat(np.arange(len(names)), [len(images) for images, _ in found])
    return Split(ImageFiles(paths, size, resize), labels), [name for _, others in found for name in others]


def _subfolder(root: Path, names: tuple[str, ...]) -> Path:
    for name in names:
        if (root / name).is_dir():
            return root / name
    raise DNTKError(f"{root} has no folder {' or '.join(names)}; expected train/<class>/… and val/<class>/…")
