"""A user's own DataLoaders, Datasets and arrays as the two splits of a dataset, read when they are asked for."""

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence, Sized
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch.utils.data import (
    DataLoader,
    IterableDataset,
    RandomSampler,
    SequentialSampler,
    Subset,
    TensorDataset,
    default_collate,
)

from dntk_core.base.errors import DNTKError
from dntk_core.data.batch import Batch, apply, concatenate, leaves, length
from dntk_core.data.inputs import IMAGE, Arrays, Inputs, checked_arrays
from dntk_core.data.kinds import kind_of
from dntk_core.data.pictures import as_pictures, looks_like_images
from dntk_core.data.sources.source import RawDataset, Split

# What a dict of inputs may call its labels.
LABELS = ("labels", "label", "targets", "target", "y")
# Names of classes are made of labels, and a label may be any number.
MOST_CLASSES = 100_000
# Items read at once when all labels are asked for, and items by which a list of labels is judged.
READ, JUDGED = 256, 32


@dataclass(frozen=True)
class Items:
    """Inputs of a Dataset at some places, read and collated when indexed; what is random in an item is always drawn
    alike."""

    dataset: Any
    places: np.ndarray
    collate: Callable[[list[Any]], Any]

    def __len__(self) -> int:
        return len(self.places)

    def __getitem__(self, index: Any) -> Batch:
        return self.read(index)[0]

    def read(self, index: Any) -> tuple[Batch, np.ndarray]:
        """Inputs and labels of some items."""
        items = [self._item(int(place)) for place in self.places[index]]
        try:
            return split_batch(self.collate(items))
        except (RuntimeError, TypeError, ValueError) as error:
            raise DNTKError(
                f"items of the dataset do not make a batch ({str(error).partition(chr(10))[0]}); pad them to one "
                "shape, or give a DataLoader with a collate_fn that does"
            ) from error

    def _item(self, place: int) -> Any:
        with _drawn_alike(place):
            try:
                return self.dataset[place]
            except DNTKError:
                raise
            # Their code may raise anything.
            except Exception as error:
                raise DNTKError(
                    f"item {place} of the dataset cannot be read ({type(error).__name__}: {error}); repair it or leave "
                    "it out"
                ) from error


def read_data(
    train: Any, test: Any, classes: Sequence[str] | None = None, outputs: int = 0, kind: str = ""
) -> RawDataset:
    """Two DataLoaders, Datasets or pairs (inputs, labels) as a dataset whose numbers the network sees unchanged.

    classes: their names in the order of the labels; without any, those of the Dataset, else numbers
    outputs: how many classes there are at least, where that is known; kind: what the inputs are, if not as they look
    """
    first, second = labelled(*_inputs(train), "training"), labelled(*_inputs(test), "test")
    names = class_names(train, first, second, classes, outputs)
    example = first.inputs[np.arange(min(2, len(first.labels)))]
    kind = kind or (IMAGE if looks_like_images(example) else kind_of(example))
    return as_pictures(first, second, names) if kind == IMAGE else RawDataset(first, second, names, kind=kind)


def content(raw: RawDataset, chosen: Sequence[np.ndarray] | None, report: Callable[[int], None]) -> str:
    """The sha256 of the chosen inputs and labels of both splits, or of all, with the names and number of classes."""
    hashed = hashlib.sha256(repr((raw.kind, raw.class_names, len(raw.train.labels), raw.mean, raw.std)).encode())
    done, splits = 0, (raw.train, raw.test)
    for split, index in zip(splits, chosen or [np.arange(len(split.labels)) for split in splits], strict=True):
        hashed.update(split.labels[index].tobytes())
        for start in range(0, len(index), READ):
            some = index[start : start + READ]
            for leaf in leaves(split.inputs[some]):
                hashed.update(f"{leaf.dtype} {leaf.shape}".encode())
                hashed.update(np.ascontiguousarray(leaf).tobytes())
            done += len(some)
            report(done)
    return hashed.hexdigest()


def split_batch(batch: Any) -> tuple[Batch, np.ndarray]:
    """What a loader gives as inputs and labels (b,): (inputs, labels), (several inputs …, labels), a dict with labels.

    >>> split_batch({"ids": torch.ones(2, 3), "labels": torch.tensor([0, 1])})[1].tolist()
    [0, 1]
    """
    if isinstance(batch, Mapping):
        name = next((name for name in LABELS if name in batch), None)
        if name is None:
            raise DNTKError(f"a batch is a dict without labels; name them one of {', '.join(LABELS)}")
        inputs, labels = {key: value for key, value in batch.items() if key != name}, batch[name]
        inputs = {key: value for key, value in inputs.items() if isinstance(value, torch.Tensor | np.ndarray)}
    elif isinstance(batch, tuple | list) and len(batch) > 1:
        *parts, labels = batch
        inputs = parts[0] if len(parts) == 1 else tuple(parts)
    else:
        raise DNTKError(f"a batch must be (inputs, labels) or a dict with labels, got {type(batch).__name__}")
    return apply(_array, inputs), _labels(labels)


def labelled(inputs: Inputs, labels: Any, what: str) -> Split:
    """Inputs with their labels; DNTKError if there are none, or a label is no number that counts from 0."""
    labels = _labels(labels)
    if not len(labels):
        raise DNTKError(f"there are no {what} inputs; give some")
    if labels.min() < 0:
        raise DNTKError(f"a label of the {what} inputs is {labels.min()}; labels count from 0")
    return Split(inputs, labels)


def class_names(
    dataset: Any, first: Split, second: Split, classes: Sequence[str] | None, outputs: int = 0
) -> tuple[str, ...]:
    """Names of all classes that the labels of two splits speak of: as given, those of the Dataset, else numbers."""
    highest = int(max(first.labels.max(), second.labels.max()))
    if highest >= MOST_CLASSES:
        raise DNTKError(f"a label is {highest}; labels count classes from 0, and at most {MOST_CLASSES:,} of them")
    names = _names(dataset, classes, max(highest + 1, outputs))
    if highest >= len(names):
        raise DNTKError(f"there are {len(names)} classes, but a label is {highest}; labels count from 0")
    return names


def _inputs(part: Any) -> tuple[Inputs, np.ndarray]:
    """A split's inputs and all its labels."""
    if isinstance(part, tuple) and len(part) == 2:
        inputs, labels = apply(_array, part[0]), _labels(part[1])
        if length(inputs) != len(labels):
            raise DNTKError(f"there are {length(inputs):,} inputs and {len(labels):,} labels; give one label for each")
        return checked_arrays(inputs, "inputs"), labels
    if isinstance(part, DataLoader):
        if isinstance(part.dataset, IterableDataset):
            return _gathered(part)
        return _items(part.dataset, _places(part), part.collate_fn)
    if isinstance(part, IterableDataset):
        return _gathered(DataLoader(part, batch_size=READ))
    # Columns of `datasets` are lists unless tensors are asked for.
    part = part.with_format("torch") if hasattr(part, "with_format") else part  # pyright: ignore
    if hasattr(part, "__getitem__") and isinstance(part, Sized):
        return _items(part, np.arange(len(part)), default_collate)
    raise DNTKError(
        f"data must be a DataLoader, a Dataset or a pair (inputs, labels) of arrays, got {type(part).__name__}"
    )


def _items(dataset: Any, places: np.ndarray, collate: Callable[[list[Any]], Any]) -> tuple[Inputs, np.ndarray]:
    items = Items(dataset, places, collate)
    if not len(items):
        return items, np.empty(0, np.int64)
    listed = _listed_labels(dataset)
    if listed is not None and len(listed) == len(dataset):
        some = np.unique(np.linspace(0, len(items) - 1, JUDGED, dtype=np.int64))
        # A list may lack what a transform does to labels.
        if np.array_equal(items.read(some)[1], listed[places[some]]):
            return items, listed[places]
    starts = range(0, len(items), READ)
    return items, np.concatenate([items.read(slice(start, start + READ))[1] for start in starts])


def _gathered(loader: DataLoader) -> tuple[Inputs, np.ndarray]:
    """All that an iterable gives: it can be read only once, so it is held."""
    with _drawn_alike():
        found = [split_batch(batch) for batch in loader]
    if not found:
        return Arrays(np.empty((0, 1))), np.empty(0, np.int64)
    batches, labels = zip(*found, strict=True)
    return checked_arrays(concatenate(batches), "inputs"), np.concatenate(labels)


def _places(loader: DataLoader) -> np.ndarray:
    """Which items of its Dataset a loader gives, in their order."""
    n = len(loader.dataset)  # pyright: ignore[reportArgumentType]
    if type(loader.sampler) in (SequentialSampler, RandomSampler) and loader.batch_size is not None:
        return np.arange(n)
    with _drawn_alike():
        drawn = list(loader.sampler) if loader.batch_size is not None else list(loader.batch_sampler or range(n))
    return np.unique(np.concatenate([np.atleast_1d(np.asarray(places, dtype=np.int64)) for places in drawn]))


def _listed_labels(dataset: Any) -> np.ndarray | None:
    """The labels that a Dataset lists of itself, so that its items need not be read for them; None if it does not."""
    if isinstance(dataset, Subset):
        inner = _listed_labels(dataset.dataset)
        return None if inner is None else inner[np.asarray(dataset.indices, dtype=np.int64)]
    if isinstance(dataset, TensorDataset):
        found = dataset.tensors[-1]
    elif (columns := getattr(dataset, "column_names", None)) is not None:
        name = next((name for name in LABELS if name in columns), None)
        found = None if name is None else dataset[name][:]
    else:
        found = next((value for name in LABELS if (value := getattr(dataset, name, None)) is not None), None)
    try:
        return None if found is None else _labels(found)
    except DNTKError:
        return None


def _names(train: Any, classes: Sequence[str] | None, count: int) -> tuple[str, ...]:
    if classes is not None:
        return tuple(map(str, classes))
    dataset = train.dataset if isinstance(train, DataLoader) else train
    named = getattr(dataset, "classes", None)
    if isinstance(named, list | tuple) and len(named) == count and len(set(named)) == count:
        return tuple(map(str, named))
    return tuple(map(str, range(count)))


def _labels(values: Any) -> np.ndarray:
    """Labels (n,) as integers."""
    found = _array(values)
    found = found[:, 0] if found.ndim == 2 and found.shape[1] == 1 else found
    if found.ndim != 1 or found.dtype.kind not in "iub":
        raise DNTKError(f"labels must be integers (n,) that count from 0, got {found.dtype} {found.shape}")
    return found.astype(np.int64)


def _array(value: Any) -> np.ndarray:
    if isinstance(value, torch.Tensor):
        value = value.detach().cpu()
        return (value.float() if value.dtype in (torch.bfloat16, torch.float16) else value).numpy()
    return np.asarray(value)


@contextmanager
def _drawn_alike(seed: int = 0) -> Iterator[None]:
    """Draw the same at every reading, and leave the user's own generator as it was."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        yield
