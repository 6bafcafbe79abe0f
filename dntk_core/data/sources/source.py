"""What a dataset source returns, and what sources share."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from dntk_core.base.errors import DNTKError
from dntk_core.base.spec import DataSpec
from dntk_core.data.images import ImageArray, Images


@dataclass(frozen=True)
class Split:
    """Images (n, channels, height, width) in [0, 1], decoded when indexed, and their labels (n,)."""

    images: Images
    labels: np.ndarray


@dataclass(frozen=True)
class RawDataset:
    """What a source finds: two splits and the class names.

    flip: whether a mirrored image still shows its class; skipped: files that are not images
    """

    train: Split
    test: Split
    class_names: tuple[str, ...]
    flip: bool
    skipped: tuple[str, ...] = ()


Loader = Callable[[DataSpec], RawDataset]


def resized(images: np.ndarray, spec: DataSpec) -> Images:
    """An array of images at the size that the spec asks for."""
    plain = images.dtype == np.float32 and spec.size in (0, images.shape[-1])
    return images if plain else ImageArray(images, spec.size or images.shape[-1])


def existing_path(spec: DataSpec, what: str) -> Path:
    """The path of a spec; DNTKError if nothing is there. `what` says what is expected."""
    if not spec.path:
        raise DNTKError(f"the dataset {spec.name!r} needs a path: {what}")
    path = Path(spec.path)
    if not path.exists():
        raise DNTKError(f"there is no {path}; the dataset {spec.name!r} needs {what}")
    return path


def download_folder(spec: DataSpec) -> str:
    """Where a source keeps what it downloads."""
    return spec.path or str(Path.home() / ".cache" / "dntk")
