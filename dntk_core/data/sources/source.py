"""What a dataset source returns, and what sources share."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from dntk_core.base.errors import DNTKError
from dntk_core.base.spec import DataSpec
from dntk_core.data.images import ImageArray, Images
from dntk_core.data.inputs import IMAGE, Inputs


@dataclass(frozen=True)
class Split:
    """Inputs, images (n, channels, height, width) in [0, 1] or others, taken when indexed; their labels (n,)."""

    inputs: Inputs
    labels: np.ndarray


@dataclass(frozen=True)
class RawDataset:
    """What a source finds: two splits and the class names.

    flip: whether a mirrored image still shows its class; skipped: files that are not images
    kind: what the inputs are; vocabulary: words of the token ids, or names of a table's columns
    mean, std: per channel, where the source knows how its images are normalised
    """

    train: Split
    test: Split
    class_names: tuple[str, ...]
    flip: bool = False
    skipped: tuple[str, ...] = ()
    kind: str = IMAGE
    vocabulary: tuple[str, ...] = ()
    mean: tuple[float, ...] = ()
    std: tuple[float, ...] = ()


Loader = Callable[[DataSpec], RawDataset]


def resized(images: np.ndarray, spec: DataSpec) -> Images:
    """An array of images at the size that the spec asks for."""
    plain = images.dtype == np.float32 and (not spec.size or images.shape[2:] == (spec.size, spec.size))
    return images if plain else ImageArray(images, spec.size)


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
