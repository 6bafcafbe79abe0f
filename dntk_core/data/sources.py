"""Where datasets come from: bundled digits, torchvision's by name, class folders of image files, .npz files."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from dntk_core.base.errors import DNTKError
from dntk_core.base.spec import DataSpec
from dntk_core.data.archives import read_npz
from dntk_core.data.images import ImageArray, ImageFiles, find_images

IMAGENET_MEAN, IMAGENET_STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
DEFAULT_SIZE = 224
TRAIN_FOLDERS, TEST_FOLDERS = ("train",), ("val", "valid", "validation", "test")
NPZ_ARRAYS = ("train_images", "train_labels", "test_images", "test_labels")
# Images that the mean and deviation of an array are measured on.
MEASURED = 10_000


@dataclass(frozen=True)
class Split:
    """Images (n, channels, height, width) in [0, 1], decoded when indexed, and their labels (n,)."""

    images: np.ndarray | ImageArray | ImageFiles
    labels: np.ndarray


@dataclass(frozen=True)
class Source:
    """What a loader finds: two splits, the class names, and files that are no images."""

    train: Split
    test: Split
    class_names: tuple[str, ...]
    flip: bool
    skipped: tuple[str, ...] = ()


def digits(spec: DataSpec) -> Source:
    """Load scikit-learn's bundled 8×8 digits: 1,297 for training, 500 for testing, split once and for all."""
    from sklearn.datasets import load_digits
    from sklearn.model_selection import train_test_split

    bundled = load_digits()
    images = (bundled.images / 16).astype(np.float32)[:, None]
    labels = bundled.target.astype(np.int64)
    train, test = train_test_split(np.arange(len(labels)), test_size=500, stratify=labels, random_state=0)
    names = tuple(str(name) for name in bundled.target_names)
    splits = [Split(_array(images[part], spec), labels[part]) for part in (train, test)]
    return Source(*splits, names, flip=False)


def folder(spec: DataSpec) -> Source:
    """Load path/train/<class>/* and path/val/<class>/* (or valid, validation, test)."""
    root = _existing(spec, "a folder with train/<class>/… and val/<class>/…")
    train, test = _subfolder(root, TRAIN_FOLDERS), _subfolder(root, TEST_FOLDERS)
    names, other = (sorted(path.name for path in part.iterdir() if path.is_dir()) for part in (train, test))
    if not names:
        raise DNTKError(f"{train} has no class folders; put each class's images into a folder of its own")
    if names != other:
        apart = sorted(set(names) ^ set(other))
        raise DNTKError(f"{train} and {test} have different classes: {', '.join(apart[:5])} in only one of them")
    size = spec.size or DEFAULT_SIZE
    splits, skipped = [], []
    for part in (train, test):
        found = [find_images(part / name) for name in names]
        paths = [path for images, _ in found for path in images]
        labels = np.repeat(np.arange(len(names)), [len(images) for images, _ in found])
        skipped += [name for _, others in found for name in others]
        if not paths:
            raise DNTKError(f"{part} holds no image files (.jpg, .png, …)")
        splits.append(Split(ImageFiles(tuple(paths), size, spec.resize or size), labels))
    return Source(*splits, tuple(names), flip=True, skipped=tuple(skipped))


def npz(spec: DataSpec) -> Source:
    """Load train_images (n, channels, height, width), train_labels (n,), test_images, test_labels; 8-bit or [0, 1]."""
    path = _existing(spec, "an .npz file")
    arrays = read_npz(path)
    missing = [name for name in NPZ_ARRAYS if name not in arrays]
    if missing:
        raise DNTKError(f"{path} lacks {', '.join(missing)}; it needs {', '.join(NPZ_ARRAYS)}")
    names = _npz_names(arrays, path)
    return Source(*(_npz_split(arrays, part, len(names), spec, path) for part in ("train", "test")), names, flip=False)


def torchvision_arrays(class_name: str, flip: bool) -> Callable[[DataSpec], Source]:
    """Load a torchvision dataset that lies in memory whole, downloaded if it is not there."""

    def load(spec: DataSpec) -> Source:
        import torchvision.datasets

        dataset = getattr(torchvision.datasets, class_name)
        try:
            parts = [dataset(_root(spec), train=train, download=True) for train in (True, False)]
        except (OSError, RuntimeError) as error:
            raise DNTKError(f"{class_name} is neither in {_root(spec)} nor could it be downloaded: {error}") from None
        splits = []
        for part in parts:
            images = np.asarray(part.data)
            images = images[:, None] if images.ndim == 3 else images.transpose(0, 3, 1, 2)
            splits.append(Split(_array(images, spec), np.asarray(part.targets, dtype=np.int64)))
        return Source(*splits, tuple(map(str, parts[0].classes)), flip)

    return load


def imagenette(spec: DataSpec) -> Source:
    """Load ImageNette as class folders, downloaded if it is not there."""
    import torchvision.datasets

    edition = "160px" if 0 < spec.size <= 160 else "320px" if 0 < spec.size <= 320 else "full"
    try:
        for split in ("train", "val"):
            torchvision.datasets.Imagenette(_root(spec), split, edition, download=True)
    except (OSError, RuntimeError) as error:
        raise DNTKError(f"ImageNette is neither in {_root(spec)} nor could it be downloaded: {error}") from None
    name = "imagenette2" if edition == "full" else f"imagenette2-{edition[:-2]}"
    return folder(replace(spec, path=str(Path(_root(spec)) / name)))


SOURCES: dict[str, Callable[[DataSpec], Source]] = {
    "digits": digits,
    "folder": folder,
    "npz": npz,
    "imagenette": imagenette,
    "mnist": torchvision_arrays("MNIST", flip=False),
    "fashion_mnist": torchvision_arrays("FashionMNIST", flip=True),
    "kmnist": torchvision_arrays("KMNIST", flip=False),
    "cifar10": torchvision_arrays("CIFAR10", flip=True),
    "cifar100": torchvision_arrays("CIFAR100", flip=True),
}


def scale(spec: DataSpec, images) -> tuple[tuple[float, ...], tuple[float, ...]]:
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


def _array(images: np.ndarray, spec: DataSpec) -> np.ndarray | ImageArray:
    plain = images.dtype == np.float32 and spec.size in (0, images.shape[-1])
    return images if plain else ImageArray(images, spec.size or images.shape[-1])


def _npz_names(arrays: dict, path: Path) -> tuple[str, ...]:
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


def _npz_split(arrays: dict, part: str, classes: int, spec: DataSpec, path: Path) -> Split:
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
    return Split(_array(images, spec), labels.astype(np.int64))


def _existing(spec: DataSpec, what: str) -> Path:
    if not spec.path:
        raise DNTKError(f"the dataset {spec.name!r} needs a path: {what}")
    path = Path(spec.path)
    if not path.exists():
        raise DNTKError(f"there is no {path}; the dataset {spec.name!r} needs {what}")
    return path


def _subfolder(root: Path, names: tuple[str, ...]) -> Path:
    for name in names:
        if (root / name).is_dir():
            return root / name
    raise DNTKError(f"{root} has no folder {' or '.join(names)}; expected train/<class>/… and val/<class>/…")


def _root(spec: DataSpec) -> str:
    return spec.path or str(Path.home() / ".cache" / "dntk")
