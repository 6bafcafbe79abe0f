"""Datasets of Hugging Face that were saved to disk: images, numbers or token ids in columns, a column of labels."""

import importlib
import io
from dataclasses import dataclass
from typing import Any

from dntk_core.base.errors import DNTKError
from dntk_core.base.spec import DataSpec
from dntk_core.data.images import ImageFiles
from dntk_core.data.sources.folder import DEFAULT_SIZE, TEST_FOLDERS
from dntk_core.data.sources.source import RawDataset, existing_path

LABELS = ("label", "labels")


@dataclass(frozen=True)
class Cell:
    """One image of a column, as the bytes of its file; a path that stands there instead is never followed."""

    split: str
    rows: Any
    column: str
    i: int

    def __str__(self) -> str:
        return f"{self.column} {self.i} of {self.split}"

    def read_bytes(self) -> bytes:
        """The file's bytes."""
        content = (self.rows[self.i][self.column] or {}).get("bytes")
        if not content:
            raise DNTKError("the saved dataset does not hold its bytes")
        return content

    def open(self, mode: str) -> io.BytesIO:
        """The file, to be read."""
        return io.BytesIO(self.read_bytes())


def load(spec: DataSpec) -> RawDataset:
    """Load what `save_to_disk` wrote: a train split and a test or validation split, with a label for each row."""
    path = existing_path(spec, "a folder that save_to_disk of datasets wrote")
    try:
        datasets: Any = importlib.import_module("datasets")
    except ImportError:
        raise DNTKError('datasets is not installed; `pip install "dntk[hf]"` brings it') from None
    # Loading torch takes seconds; other sources do without.
    from dntk_core.data.loaders import class_names, labelled, read_data

    try:
        found = datasets.load_from_disk(str(path))
    # A reader may raise anything at a folder that was made to break it.
    except Exception as error:
        raise DNTKError(f"{path} cannot be read as a saved dataset: {str(error).partition(chr(10))[0]}") from error
    test = next((name for name in TEST_FOLDERS if name in found), None) if isinstance(found, dict) else None
    if test is None or "train" not in found:
        raise DNTKError(f"{path} must hold a split train and one of {', '.join(TEST_FOLDERS)}; save a DatasetDict")
    train = found["train"]
    labels = next((name for name in LABELS if name in train.column_names), None)
    if labels is None:
        raise DNTKError(f"{path} has no column {' or '.join(LABELS)}; its columns: {', '.join(train.column_names)}")
    classes = getattr(train.features[labels], "names", None)
    pictures = [name for name, feature in train.features.items() if isinstance(feature, datasets.Image)]
    if not pictures:
        return read_data(train, found[test], classes, kind=spec.kind)
    # Their bytes, to be decoded by our own bounded decoder.
    parts = {name: found[name].cast_column(pictures[0], datasets.Image(decode=False)) for name in ("train", test)}
    first, second = (
        labelled(_images(name, rows, pictures[0], spec), rows[labels][:], name) for name, rows in parts.items()
    )
    return RawDataset(first, second, class_names(train, first, second, classes), flip=True)


def _images(name: str, rows: Any, column: str, spec: DataSpec) -> ImageFiles:
    size = spec.size or DEFAULT_SIZE
    cells = tuple(Cell(name, rows, column, i) for i in range(len(rows)))
    return ImageFiles(cells, size, spec.resize or size)
