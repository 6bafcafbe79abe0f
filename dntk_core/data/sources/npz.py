"""Arrays of inputs and labels in one .npz file: images, or whatever a network takes."""

from pathlib import Path

import numpy as np

from dntk_core.base.errors import DNTKError
from dntk_core.base.spec import DataSpec
from dntk_core.data.archives import read_npz
from dntk_core.data.batch import Batch, leaves
from dntk_core.data.inputs import IMAGE, Arrays, Inputs, checked_arrays
from dntk_core.data.kinds import kind_of
from dntk_core.data.sources.source import RawDataset, Split, existing_path, resized
from dntk_core.data.vocabulary import MOST_WORDS, shown_words

MOST_CLASSES = 100_000
CHANNELS = (1, 3, 4)
# Words of token ids, or names of a table's columns: either may be in the file.
VOCABULARIES = ("vocabulary", "feature_names")


def load(spec: DataSpec) -> RawDataset:
    """Load train_labels (n,), test_labels, and either train_images (n, channels, height, width) with test_images, 8-bit
    or [0, 1], or train_inputs (n, …) with test_inputs: any numbers, or several arrays named train_inputs.<part>.
    """
    path = existing_path(spec, "an .npz file")
    arrays = read_npz(path)
    _check_complete(arrays, path)
    names = _names(arrays, path)
    kind = spec.kind or (IMAGE if "train_images" in arrays else kind_of(_tree(arrays, "train")[1]))
    train, test = (_split(arrays, part, kind, len(names), spec, path) for part in ("train", "test"))
    return RawDataset(train, test, names, kind=kind, vocabulary=_vocabulary(arrays, path))


def _check_complete(arrays: dict[str, np.ndarray], path: Path) -> None:
    missing = [name for name in ("train_labels", "test_labels") if name not in arrays]
    missing += [f"{part}_images" for part in ("train", "test") if not _tree(arrays, part)[0]]
    if missing:
        raise DNTKError(
            f"{path} lacks {', '.join(missing)}; it needs train_labels, test_labels and train_images, test_images, or "
            "train_inputs, test_inputs for anything but images"
        )


def _tree(arrays: dict[str, np.ndarray], part: str) -> tuple[str, Batch]:
    """The inputs of a split and the name they have in the file: one array, or a dict or tuple of several."""
    for name in (f"{part}_images", f"{part}_inputs"):
        if name in arrays:
            return name, arrays[name]
    name = f"{part}_inputs."
    found = {key.removeprefix(name): array for key, array in arrays.items() if key.startswith(name)}
    if not found:
        return "", ()
    # Numbers in the place of names are positions.
    numbered = [found.get(str(i)) for i in range(len(found))]
    return f"{part}_inputs", tuple(numbered) if all(array is not None for array in numbered) else found


def _names(arrays: dict[str, np.ndarray], path: Path) -> tuple[str, ...]:
    """The names of the classes: as given, else the numbers up to the highest label."""
    # As many as there are inputs: labels alone may claim any number.
    inputs = [len(leaf) if leaf.ndim else 0 for leaf in leaves(_tree(arrays, "train")[1])]
    most = min(MOST_CLASSES, *inputs)
    if "class_names" not in arrays:
        labels = arrays["train_labels"]
        highest = int(labels.max()) if labels.dtype.kind in "iu" and labels.size else 0
        # A label may be any number; each class has at least one image.
        return tuple(map(str, range(min(highest + 1, most))))
    names = arrays["class_names"]
    if names.ndim != 1 or names.dtype.kind not in "US" or len(names) > most:
        raise DNTKError(f"class_names in {path} must be a list of names, each of a class with training inputs")
    return tuple(map(str, names))


def _vocabulary(arrays: dict[str, np.ndarray], path: Path) -> tuple[str, ...]:
    """The words or columns that are named, if any are."""
    words = next((arrays[name] for name in VOCABULARIES if name in arrays), np.empty(0, str))
    if words.ndim != 1 or words.dtype.kind not in "US" or len(words) > MOST_WORDS:
        raise DNTKError(f"{' or '.join(VOCABULARIES)} in {path} must be a list of at most {MOST_WORDS:,} words")
    return shown_words(words.tolist())


def _split(arrays: dict[str, np.ndarray], part: str, kind: str, classes: int, spec: DataSpec, path: Path) -> Split:
    inputs, labels = _inputs(arrays, part, kind, spec, path), arrays[f"{part}_labels"]
    if labels.shape != (len(inputs),) or labels.dtype.kind not in "iu":
        raise DNTKError(f"{part}_labels in {path} must be {len(inputs)} integers, got {labels.dtype} {labels.shape}")
    if len(labels) and not (labels.min() >= 0 and labels.max() < classes):
        raise DNTKError(f"{part}_labels in {path} must lie in 0..{classes - 1}")
    return Split(inputs, labels.astype(np.int64))


def _inputs(arrays: dict[str, np.ndarray], part: str, kind: str, spec: DataSpec, path: Path) -> Inputs:
    name, tree = _tree(arrays, part)
    what = f"{name} in {path}"
    if kind == IMAGE:
        return _images(tree, what, spec)
    inputs = checked_arrays(tree, what)
    if kind != "table":
        return inputs
    features = leaves(tree)
    if len(features) != 1 or features[0].ndim != 2:
        raise DNTKError(f"{what} must be one array (n, features) to be a table")
    return Arrays(features[0].astype(np.float32))


def _images(images: Batch, what: str, spec: DataSpec) -> Inputs:
    if not isinstance(images, np.ndarray) or images.ndim != 4 or images.shape[1] not in CHANNELS or not images[:1].size:
        got = images.shape if isinstance(images, np.ndarray) else "several arrays"
        raise DNTKError(
            f"{what} must be images (n, 1, 3 or 4, height, width), got {got}; other arrays are called train_inputs and "
            "test_inputs"
        )
    if images.dtype.kind not in "buif":
        raise DNTKError(f"{what} must be numbers, got {images.dtype}")
    if images.dtype != np.uint8:
        images = images.astype(np.float32)
        # A NaN fails both comparisons.
        if len(images) and not (images.min() >= 0 and images.max() <= 1):
            raise DNTKError(f"{what} must lie in [0, 1] or be 8-bit; scale them, or call them train_inputs")
    return resized(images, spec)
