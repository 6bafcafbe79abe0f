"""A dataset as a run sees it, and which of its images become kernel and test inputs."""

from dataclasses import dataclass

import numpy as np

from dntk_core.base.errors import DNTKError
from dntk_core.base.randomness import generator
from dntk_core.base.spec import DataSpec, InputSpec
from dntk_core.base.text import is_line
from dntk_core.data.images import Images, readable
from dntk_core.data.scale import scale
from dntk_core.data.sources import SOURCES

LONGEST_NAME = 255


@dataclass(frozen=True)
class Dataset:
    """Images in [0, 1] and labels, split for training and testing.

    train_images: (n, channels, height, width) float32, decoded when indexed; train_labels: (n,) int64; test_* likewise
    mean, std: per channel, what the network's inputs are normalised with
    flip: whether a mirrored image still shows its class
    skipped: files that are not images
    """

    train_images: Images
    train_labels: np.ndarray
    test_images: Images
    test_labels: np.ndarray
    class_names: tuple[str, ...]
    mean: tuple[float, ...]
    std: tuple[float, ...]
    flip: bool = False
    skipped: tuple[str, ...] = ()

    @property
    def channels(self) -> int:
        return self.train_images.shape[1]

    def normalise(self, images: np.ndarray) -> np.ndarray:
        """What the network sees: (x − mean)/std."""
        mean, std = self._scale
        return (images - mean) / std

    def denormalise(self, images: np.ndarray) -> np.ndarray:
        """Back from what the network sees: x · std + mean."""
        mean, std = self._scale
        return images * std + mean

    @property
    def _scale(self) -> tuple[np.ndarray, np.ndarray]:
        """Mean and std, (1, channels, 1, 1) each."""
        shape = (1, -1, 1, 1)
        return np.array(self.mean, np.float32).reshape(shape), np.array(self.std, np.float32).reshape(shape)


def load_data(spec: DataSpec) -> Dataset:
    """Load a dataset by name."""
    if spec.name not in SOURCES:
        raise DNTKError(f"unknown dataset {spec.name!r}; known: {', '.join(SOURCES)}")
    raw = SOURCES[spec.name](spec)
    _check_names(raw.class_names)
    mean, std = scale(spec, raw.train.images)
    return Dataset(
        raw.train.images,
        raw.train.labels,
        raw.test.images,
        raw.test.labels,
        raw.class_names,
        mean,
        std,
        raw.flip,
        raw.skipped,
    )


def _check_names(names: tuple[str, ...]) -> None:
    """Refuse class names that cannot be shown or told apart."""
    if not all(is_line(name, LONGEST_NAME) for name in names):
        raise DNTKError(f"a class name must be one line of text, at most {LONGEST_NAME} characters; rename the class")
    if len(set(names)) < len(names):
        raise DNTKError("two classes have the same name; rename one of them")


def choose_inputs(data: Dataset, spec: InputSpec) -> tuple[np.ndarray, np.ndarray]:
    """Draw indices: kernel inputs (m,) from the training images, balanced over classes, and test inputs (t,)."""
    return (
        _balanced(data.train_images, data.train_labels, data.class_names, spec.kernel, spec.seed, "kernel"),
        _balanced(data.test_images, data.test_labels, data.class_names, spec.test, spec.seed, "test"),
    )


def check_distillable(data: Dataset, per_class: int) -> None:
    """Refuse what cannot be distilled: images outside [0, 1], empty classes, more per class than there are."""
    images = data.train_images
    # Images of other kinds are in range already. A NaN fails both comparisons.
    if isinstance(images, np.ndarray) and not (images.min() >= 0 and images.max() <= 1):
        raise DNTKError(
            f"images must be finite numbers in [0, 1] to be distilled, got values from {images.min():.4g} to "
            f"{images.max():.4g}; scale them (8-bit images by 1/255)"
        )
    counts = np.bincount(data.train_labels, minlength=len(data.class_names))
    for name, count in zip(data.class_names, counts, strict=True):
        if count == 0:
            raise DNTKError(f"class {name!r} has no training images to distil; add images of it or remove the class")
        if count < per_class:
            raise DNTKError(
                f"{per_class} images per class asked for, but class {name!r} has only {count}; ask for fewer per class"
            )


def _balanced(
    images: Images, labels: np.ndarray, names: tuple[str, ...], count: int, seed: int, what: str
) -> np.ndarray:
    """Take classes in turn until `count` inputs are drawn; small classes give all they have. Sorted by class."""
    if count > len(labels):
        raise DNTKError(f"{count:,} {what} inputs asked for, but the dataset has only {len(labels):,}; ask for fewer")
    rng = generator(seed, f"{what} inputs")
    waiting = [list(rng.permutation(np.flatnonzero(labels == c))) for c in range(len(names))]
    for name, of_class in zip(names, waiting, strict=True):
        if not of_class:
            raise DNTKError(f"class {name!r} has no {what} inputs; add images of it or remove the class")
    chosen: list[list[int]] = [[] for _ in names]
    while sum(map(len, chosen)) < count and any(waiting):
        for c in range(len(names)):
            if sum(map(len, chosen)) < count and (i := _next_readable(images, waiting[c])) is not None:
                chosen[c].append(i)
    if sum(map(len, chosen)) < count:
        raise DNTKError(f"only {sum(map(len, chosen)):,} of the {what} images can be read; ask for fewer inputs")
    return np.concatenate([np.array(of_class, dtype=np.int64) for of_class in chosen])


def _next_readable(images: Images, waiting: list[int]) -> int | None:
    """The next image of a class that decodes; broken files are skipped."""
    while waiting:
        i = int(waiting.pop(0))
        if readable(images, i):
            return i
    return None
