"""Datasets of Hugging Face that were saved to disk: images, numbers or token ids in columns, a column of labels."""

import importlib
import io
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dntk_core.base.errors import DNTKError
from dntk_core.base.spec import DataSpec
from dntk_core.data.images import ImageFiles
from dntk_core.data.sources.folder import DEFAULT_SIZE, TEST_FOLDERS
from dntk_core.data.sources.source import RawDataset, existing_path

LABELS = ("label", "labels")
# What a split or a file of it may be called.
_NAME = re.compile(r"\w[\w.-]{0,199}")


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
        _check_names(path)
        found = datasets.load_from_disk(str(path))
    except DNTKError:
        raise
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
        return read_data(_numbers(train, datasets), _numbers(found[test], datasets), classes, kind=spec.kind)
    # Their bytes, to be decoded by our own bounded decoder.
    parts = {name: _undecoded(found[name], pictures[0], labels, datasets) for name in ("train", test)}
    first, second = (
        labelled(_images(name, rows, pictures[0], spec), rows[labels][:], name) for name, rows in parts.items()
    )
    return RawDataset(first, second, class_names(train, first, second, classes), flip=True)


def _check_names(path: Path) -> None:
    """Refuse a dataset whose parts are said to lie elsewhere: names in it become paths, and addresses."""
    for name in _named(path):
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            raise DNTKError(f"{path} names {str(name)[:80]!r}, which is no file of its own; save the dataset anew")


def _named(path: Path) -> Iterator[Any]:
    if (listing := path / "dataset_dict.json").exists():
        yield from json.loads(listing.read_bytes())["splits"]
    for state in (*path.glob("state.json"), *path.glob("*/state.json")):
        yield from (file["filename"] for file in json.loads(state.read_bytes())["_data_files"])


def _numbers(rows: Any, datasets: Any) -> Any:
    """Without the columns that would be decoded: sounds, films, documents, each of which may name a file."""
    decoded = datasets.features.features.require_decoding
    return rows.select_columns([name for name, feature in rows.features.items() if not decoded(feature)])


def _undecoded(rows: Any, picture: str, labels: str, datasets: Any) -> Any:
    """The images, as bytes, and the labels; whoever asks for a row decodes all that it holds."""
    if not {picture, labels} <= set(rows.column_names):
        raise DNTKError(f"both splits need the columns {picture} and {labels}; save the dataset anew")
    return rows.select_columns([picture, labels]).cast_column(picture, datasets.Image(decode=False))


def _images(name: str, rows: Any, column: str, spec: DataSpec) -> ImageFiles:
    size = spec.size or DEFAULT_SIZE
    cells = tuple(Cell(name, rows, column, i) for i in range(len(rows)))
    return ImageFiles(cells, size, spec.resize or size)
