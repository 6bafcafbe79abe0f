"""Batches as trees of tensors: whatever is done to them is done to every tensor alike."""

import numpy as np
import pytest
import torch

from dntk_core.base.errors import DNTKError
from dntk_core.data.batch import concatenate, leaves, length, take, to

IDS, MASK = torch.arange(12).reshape(4, 3), torch.eye(4, 3)
TREES = {
    "tensor": IDS,
    "dict": {"ids": IDS, "mask": MASK},
    "tuple": (IDS, MASK),
    "nested": {"ids": IDS, "more": (MASK, MASK + 1)},
}


@pytest.mark.parametrize("batch", TREES.values(), ids=TREES)
def test_cut_apart_and_joined_it_is_the_same(batch):
    assert length(batch) == 4
    joined = concatenate([take(batch, slice(0, 3)), take(batch, np.array([3]))])
    assert type(joined) is type(batch)
    assert all(map(torch.equal, leaves(joined), leaves(batch)))
    assert all(leaf.device.type == "meta" for leaf in leaves(to(batch, "meta")))


def test_arrays_of_numpy_stay_arrays():
    batch = {"ids": IDS.numpy(), "mask": MASK.numpy()}
    joined = concatenate([take(batch, [2]), take(batch, [0, 1])])
    assert isinstance(joined["ids"], np.ndarray) and joined["ids"].tolist() == IDS[[2, 0, 1]].tolist()


def test_parts_of_unequal_length_are_refused():
    with pytest.raises(DNTKError, match=r"equally many inputs, got \[3, 4\]"):
        length((IDS, MASK[:3]))
