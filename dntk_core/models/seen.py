"""Inputs as a network sees them: decoded and normalised when they are asked for, as tensors."""

from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
import torch
from torch import Tensor

from dntk_core.data.batch import Batch, apply
from dntk_core.data.dataset import Dataset
from dntk_core.data.images import Unreadable, readable
from dntk_core.data.inputs import Inputs


@dataclass(frozen=True)
class Seen:
    """Inputs as the network sees them, decoded and normalised when indexed; `chosen` narrows them down."""

    data: Dataset
    inputs: Inputs
    chosen: np.ndarray | None = None

    def __len__(self) -> int:
        return len(self.inputs) if self.chosen is None else len(self.chosen)

    def __getitem__(self, index: Any) -> Batch:
        """Images (b, channels, height, width) float32; other inputs as they are, in the precision of networks."""
        index = np.arange(len(self))[index] if self.chosen is None else self.chosen[index]
        return apply(as_tensor, self.data.normalise(self.inputs[index]))


@dataclass(frozen=True)
class Readable:
    """Inputs without those whose files are broken: indexed, the places that are left and their batch."""

    inputs: Seen | Tensor

    def __getitem__(self, index: np.ndarray) -> tuple[np.ndarray, Batch]:
        try:
            return index, self.inputs[index]
        except Unreadable as error:
            index = np.delete(index, error.places)
            return index, self.inputs[index]


def example(data: Dataset) -> Batch:
    """Two training inputs, to try a network on."""
    found = (i for i in range(len(data.train_labels)) if readable(data.train_inputs, i))
    return Seen(data, data.train_inputs)[np.array(list(islice(found, 2)))]


def tensor(array: np.ndarray) -> torch.Tensor:
    """A float32 tensor of an array."""
    return torch.from_numpy(np.ascontiguousarray(array, dtype=np.float32))


def as_tensor(array: np.ndarray) -> torch.Tensor:
    """A tensor of an array as networks take it: float32 numbers, int64 integers, truth values."""
    kinds = {"f": np.float32, "i": np.int64, "u": np.int64, "b": np.bool_}
    return torch.from_numpy(np.ascontiguousarray(array, dtype=kinds[array.dtype.kind]))
