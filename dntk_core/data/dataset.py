"""A dataset as a run sees it, and which of it become kernel and test inputs."""

from dataclasses import dataclass
from pathlib import Path
from typing import cast

import numpy as np

from dntk_core.base.errors import DNTKError
from dntk_core.base.parts import PYTHON
from dntk_core.base.randomness import generator
from dntk_core.base.spec import DataSpec, InputSpec
from dntk_core.base.text import is_line
from dntk_core.data.batch import Batch, leaves
from dntk_core.data.images import ImageFiles, Images, readable
from dntk_core.data.inputs import IMAGE, Inputs
from dntk_core.data.kinds import KINDS
from dntk_core.data.scale import scale
from dntk_core.data.sources import SOURCES, RawDataset, own
from dntk_core.data.vocabulary import read_vocabulary

LONGEST_NAME = 255


@dataclass(frozen=True)
class Dataset:
    """Inputs and labels, split for training and testing.

    train_inputs: taken when indexed, images (n, channels, height, width) float32 in [0, 1]; train_labels: (n,) int64;
    test_* likewise
    kind: what the inputs are, one of KINDS; all that follows is about images alone but for `vocabulary`
    mean, std: per channel, what the network's inputs are normalised with
    flip: whether a mirrored image still shows its class
    skipped: files that are not images
    vocabulary: words of the token ids, or names of a table's columns
    """

    train_inputs: Inputs
    train_labels: np.ndarray
    test_inputs: Inputs
    test_labels: np.ndarray
    class_names: tuple[str, ...]
    mean: tuple[float, ...] = ()
    std: tuple[float, ...] = ()
    flip: bool = False
    skipped: tuple[str, ...] = ()
    kind: str = IMAGE
    vocabulary: tuple[str, ...] = ()

    @property
    def image_shape(self) -> tuple[int, ...]:
        """Channels, height and width of the images; nothing of other inputs."""
        return cast(Images, self.train_inputs).shape[1:] if self.kind == IMAGE else ()

    @property
    def channels(self) -> int:
        """Channels of the images; 0 of other inputs."""
        return self.image_shape[0] if self.image_shape else 0

    @property
    def unreadable(self) -> tuple[str, ...]:
        """Files that were met and could not be read."""
        splits = (self.train_inputs, self.test_inputs)
        return tuple(sorted(set().union(*(split.unreadable for split in splits if isinstance(split, ImageFiles)))))

    @property
    def preprocessing(self) -> str:
        """What is done to the inputs before the network sees them, for people."""
        if self.kind != IMAGE:
            shapes = ", ".join(" × ".join(map(str, leaf.shape[1:])) for leaf in leaves(self.train_inputs[:1]))
            return f"{KINDS[self.kind].many} of shape {shapes}, as they are"
        scale = f"minus {_listed(self.mean)}, divided by {_listed(self.std)}"
        fitted = ""
        if isinstance(self.train_inputs, ImageFiles):
            fitted = f", the middle of images resized to {self.train_inputs.resize}"
        return f"images of {' × '.join(map(str, self.image_shape))}{fitted}, in [0, 1], {scale} per channel"

    def normalise(self, inputs: Batch) -> Batch:
        """What the network sees: (x − mean)/std of images, other inputs as they are."""
        if self.kind != IMAGE:
            return inputs
        mean, std = self._scale
        return (inputs - mean) / std

    def denormalise(self, images: np.ndarray) -> np.ndarray:
        """Back from what the network sees: x · std + mean."""
        mean, std = self._scale
        return images * std + mean

    @property
    def _scale(self) -> tuple[np.ndarray, np.ndarray]:
        """Mean and std, (1, channels, 1, 1) each."""
        shape = (1, -1, 1, 1)
        return np.array(self.mean, np.float32).reshape(shape), np.array(self.std, np.float32).reshape(shape)


def load_data(spec: DataSpec, own_code: bool = False) -> Dataset:
    """Load a dataset by name.

    own_code: whether a name `package.module:factory` may import and call the user's own code
    """
    if spec.name.startswith(PYTHON):
        raise DNTKError(f"the data {spec.name!r} were given in Python and cannot be loaded again by name")
    if spec.own and not own_code:
        raise DNTKError(f"{spec.name!r} would run your own code; that is allowed on the command line only")
    if spec.own:
        return as_dataset(own.load(spec), spec)
    if spec.name not in SOURCES:
        raise DNTKError(f"unknown dataset {spec.name!r}; known: {', '.join(SOURCES)}")
    return as_dataset(SOURCES[spec.name](spec), spec)


def as_dataset(raw: RawDataset, spec: DataSpec) -> Dataset:
    """What a source found, checked and scaled as the spec says."""
    _check_names(raw.class_names)
    if spec.kind and spec.kind != raw.kind:
        raise DNTKError(f"the dataset {spec.name!r} holds {KINDS[raw.kind].many}, the kind {spec.kind!r} does not fit")
    return Dataset(
        raw.train.inputs,
        raw.train.labels,
        raw.test.inputs,
        raw.test.labels,
        raw.class_names,
        *_scale(spec, raw),
        raw.flip,
        raw.skipped,
        raw.kind,
        read_vocabulary(Path(spec.vocabulary)) if spec.vocabulary else raw.vocabulary,
    )


def _scale(spec: DataSpec, raw: RawDataset) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Mean and deviation of images, nothing for other inputs."""
    if raw.mean and (spec.mean or spec.std or spec.size or spec.resize):
        raise DNTKError("these images come as the network sees them; leave out size, resize, mean and std")
    if raw.mean:
        return raw.mean, raw.std
    if raw.kind == IMAGE:
        return scale(spec, cast(Images, raw.train.inputs))
    if spec.mean or spec.std or spec.size or spec.resize:
        raise DNTKError(f"size, resize, mean and std are for images; scale the {KINDS[raw.kind].many} themselves")
    return (), ()


def _listed(values: tuple[float, ...]) -> str:
    return ", ".join(f"{value:.4g}" for value in values)


def _check_names(names: tuple[str, ...]) -> None:
    """Refuse class names that cannot be shown or told apart."""
    if not all(is_line(name, LONGEST_NAME) for name in names):
        raise DNTKError(f"a class name must be one line of text, at most {LONGEST_NAME} characters; rename the class")
    if len(set(names)) < len(names):
        raise DNTKError("two classes have the same name; rename one of them")


def choose_inputs(data: Dataset, spec: InputSpec) -> tuple[np.ndarray, np.ndarray]:
    """Draw indices: kernel inputs (m,) from the training images, balanced over classes, and test inputs (t,)."""
    return (
        _balanced(data.train_inputs, data.train_labels, data.class_names, spec.kernel, spec.seed, "kernel"),
        _balanced(data.test_inputs, data.test_labels, data.class_names, spec.test, spec.seed, "test"),
    )


def check_distillable(data: Dataset, per_class: int) -> None:
    """Refuse what cannot be distilled: no images or outside [0, 1], empty classes, more per class than there are."""
    if data.kind != IMAGE:
        raise DNTKError(f"dataset distillation is for images, these are {KINDS[data.kind].many}; leave it out")
    images = data.train_inputs
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
    inputs: Inputs, labels: np.ndarray, names: tuple[str, ...], count: int, seed: int, what: str
) -> np.ndarray:
    """Take classes in turn until `count` inputs are drawn; small classes give all they have. Sorted by class."""
    if count > len(labels):
        raise DNTKError(f"{count:,} {what} inputs asked for, but the dataset has only {len(labels):,}; ask for fewer")
    rng = generator(seed, f"{what} inputs")
    waiting = [list(rng.permutation(np.flatnonzero(labels == c))) for c in range(len(names))]
    for name, of_class in zip(names, waiting, strict=True):
        # Of more classes than inputs not every class can occur.
        if not of_class and len(names) <= count:
            raise DNTKError(f"class {name!r} has no {what} inputs; add some or remove the class")
    chosen: list[list[int]] = [[] for _ in names]
    while sum(map(len, chosen)) < count and any(waiting):
        for c in range(len(names)):
            if sum(map(len, chosen)) < count and (i := _next_readable(inputs, waiting[c])) is not None:
                chosen[c].append(i)
    if sum(map(len, chosen)) < count:
        raise DNTKError(f"only {sum(map(len, chosen)):,} of the {what} inputs can be read; ask for fewer inputs")
    return np.concatenate([np.array(of_class, dtype=np.int64) for of_class in chosen])


def _next_readable(inputs: Inputs, waiting: list[int]) -> int | None:
    """The next input of a class that can be read; broken files are skipped."""
    while waiting:
        i = int(waiting.pop(0))
        if readable(inputs, i):
            return i
    return None
