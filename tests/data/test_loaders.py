"""A user's loaders, datasets and arrays: the same inputs and labels whichever way they come, read alike every time."""

import numpy as np
import pytest
import torch
from torch.utils.data import DataLoader, Dataset, IterableDataset, Subset, SubsetRandomSampler, TensorDataset

from dntk_core.base.errors import DNTKError
from dntk_core.base.spec import DataSpec
from dntk_core.data.dataset import as_dataset
from dntk_core.data.loaders import content, read_data

X, Y = torch.linspace(-2, 3, 24).reshape(8, 3), torch.tensor([0, 1, 2, 0, 1, 2, 0, 1])


class Rows(Dataset):
    """A table, row by row, with noise from torch's generator and labels that a transform has moved."""

    targets = Y

    def __init__(self, noise=0.0, shift=0):
        self.noise, self.shift = noise, shift

    def __len__(self):
        return len(X)

    def __getitem__(self, i):
        return X[i] + self.noise * torch.rand(3), (int(Y[i]) + self.shift) % 3


class Stream(IterableDataset):
    def __iter__(self):
        yield from zip(X, Y, strict=True)


def words(items):
    return {"ids": torch.stack([x for x, _ in items]), "name": "a", "labels": torch.tensor([y for _, y in items])}


@pytest.mark.parametrize(
    "part",
    [
        (X, Y),
        (X.numpy(), Y.tolist()),
        TensorDataset(X, Y),
        DataLoader(TensorDataset(X, Y), batch_size=3, shuffle=True),
        Rows(),
        DataLoader(Rows(), batch_size=5),
        Stream(),
        DataLoader(Stream(), batch_size=3),
    ],
    ids=["tensors", "arrays", "dataset", "shuffled loader", "own dataset", "own loader", "stream", "stream loader"],
)
def test_every_way_gives_the_same_inputs(part):
    raw = read_data(part, part)
    assert raw.kind == "table" and raw.class_names == ("0", "1", "2") and raw.train.labels.tolist() == Y.tolist()
    np.testing.assert_array_equal(raw.train.inputs[np.array([5, 0])], X[[5, 0]].numpy())
    chosen = (np.arange(8), np.arange(4))
    same = content(read_data((X, Y), (X, Y)), chosen, lambda done: None)
    assert content(raw, chosen, lambda done: None) == same
    assert content(read_data((X + 1e-6, Y), (X, Y)), chosen, lambda done: None) != same


def test_some_of_a_dataset_is_what_the_loader_gives():
    part = DataLoader(Rows(), sampler=SubsetRandomSampler([6, 1, 2]), batch_size=2)
    raw = read_data(part, Subset(Rows(), [4, 3]))
    assert raw.train.labels.tolist() == [1, 2, 0] and raw.test.labels.tolist() == [1, 0]
    np.testing.assert_array_equal(raw.train.inputs[:], X[[1, 2, 6]].numpy())


def test_a_list_of_labels_is_believed_only_if_the_items_say_the_same():
    assert read_data(Rows(shift=1), Rows()).train.labels.tolist() == ((Y + 1) % 3).tolist()


def test_what_is_random_is_read_alike_and_the_users_generator_stays():
    torch.manual_seed(7)
    before = torch.random.get_rng_state()
    inputs = read_data(Rows(noise=0.5), Rows()).train.inputs
    np.testing.assert_array_equal(inputs[np.array([2, 4])][1], inputs[np.array([4])][0])
    assert not np.array_equal(inputs[:], X.numpy()) and torch.equal(torch.random.get_rng_state(), before)


def test_a_dict_keeps_its_tensors_and_loses_its_labels():
    raw = read_data(DataLoader(Rows(), collate_fn=words), (X, Y), classes=["a", "b", "c"])
    batch = raw.train.inputs[np.array([1])]
    assert set(batch) == {"ids"} and raw.class_names == ("a", "b", "c")


def test_images_are_shown_between_0_and_1_and_computed_with_as_they_came():
    seen = torch.randn(8, 3, 4, 4, generator=torch.Generator().manual_seed(0))
    data = as_dataset(read_data((seen, Y), (seen, Y)), DataSpec())
    pictures = data.train_inputs[:]
    assert data.kind == "image" and data.image_shape == (3, 4, 4) and pictures.min() == 0 and pictures.max() == 1
    np.testing.assert_allclose(data.normalise(pictures), seen.numpy(), atol=1e-6)
    with pytest.raises(DNTKError, match="come as the network sees them"):
        as_dataset(read_data((seen, Y), (seen, Y)), DataSpec(mean="0.5", std="0.5"))


@pytest.mark.parametrize(
    "part, says",
    [
        ((X, Y[:3]), "8 inputs and 3 labels"),
        ((X, Y.float()), "labels must be integers"),
        ((X, Y - 1), "labels count from 0"),
        ((X[:0], Y[:0]), "there are no training inputs"),
        ((X / 0, Y), "not finite"),
        ([{"ids": X[0]}], "labels"),
        ([(torch.ones(2), 0), (torch.ones(3), 1)], "pad them"),
        (7, "got int"),
    ],
)
def test_what_does_not_fit_is_one_sentence(part, says):
    with pytest.raises(DNTKError, match=says):
        read_data(part, (X, Y))


def test_a_label_beyond_the_classes_is_named():
    with pytest.raises(DNTKError, match="2 classes, but a label is 2"):
        read_data((X, Y), (X, Y), classes=["a", "b"])


def test_a_label_cannot_ask_for_a_billion_classes_here_either():
    inputs = np.zeros((4, 3), np.float32)
    with pytest.raises(DNTKError, match="a label is 1000000000; labels count classes from 0, and at most 100,000"):
        read_data((inputs, np.array([0, 1, 0, 10**9])), (inputs, np.zeros(4, int)))
