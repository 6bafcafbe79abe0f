"""Inputs as a network sees them: normalised, in the precision of networks, without broken files."""

import numpy as np
import pytest
import torch

from dntk_core.base.errors import DNTKError
from dntk_core.base.spec import DataSpec
from dntk_core.data.dataset import load_data
from dntk_core.data.images import Unreadable
from dntk_core.models.seen import Readable, Seen, as_tensor, example


def test_images_are_normalised_when_they_are_indexed():
    data = load_data(DataSpec())
    seen = Seen(data, data.train_inputs, chosen=np.array([5, 3]))
    assert len(seen) == 2 and len(Seen(data, data.train_inputs)) == len(data.train_labels)
    np.testing.assert_array_equal(seen[[1]], Seen(data, data.train_inputs)[[3]])
    np.testing.assert_allclose(seen[:], data.normalise(data.train_inputs[np.array([5, 3])]))
    assert torch.equal(example(data), Seen(data, data.train_inputs)[:2])


@pytest.mark.parametrize(
    "given, kept", [("float64", "float32"), ("int32", "int64"), ("uint8", "int64"), ("bool", "bool")]
)
def test_numbers_are_in_the_precision_of_networks(given, kept):
    assert as_tensor(np.ones(3, given)).dtype == getattr(torch, kept)


def test_inputs_whose_files_are_broken_are_left_out():
    class Broken:
        def __getitem__(self, index):
            bad = np.flatnonzero(index == 2)
            if len(bad):
                raise Unreadable({int(place): DNTKError("broken") for place in bad}, ["2.png"])
            return torch.from_numpy(index)

    index, batch = Readable(Broken())[np.array([1, 2, 3])]
    assert list(index) == [1, 3] == batch.tolist()
