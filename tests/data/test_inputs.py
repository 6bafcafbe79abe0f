"""Inputs of any kind: taken by index, kept in a cache and opened again as they were."""

import json

import numpy as np
import pytest

from dntk_core.base.errors import DNTKError
from dntk_core.data.batch import leaves
from dntk_core.data.images import ImageArray
from dntk_core.data.inputs import Arrays, checked_arrays, kept, kind_in, opened

IDS, MASK = np.arange(12).reshape(4, 3), np.eye(4, 3, dtype=bool)
TREES = {
    "array": IDS / 7,
    "dict": {"input_ids": IDS, "../mask": MASK},
    "tuple": (IDS, MASK),
}


@pytest.mark.parametrize("tree", TREES.values(), ids=TREES)
def test_kept_and_opened_they_are_the_same(tree):
    arrays, note = kept("array", Arrays(tree), np.array([2, 0]))
    # A part may have any name; files of the cache have ours.
    assert all(name.replace("-", "").isalnum() for name in arrays)
    note = json.loads(json.dumps(note))
    found, wanted = opened(arrays, note), Arrays(tree)[[2, 0]]
    assert kind_in(note) == "array" and len(found) == 2
    assert type(found[:]) is type(wanted)
    for one, other in zip(leaves(found[:]), leaves(wanted), strict=True):
        assert one.dtype == other.dtype and np.array_equal(one, other)


class Held(dict):
    """Stands for an artifact."""

    rows = dict.__getitem__


def test_images_are_kept_as_ever_and_notes_without_a_kind_mean_images():
    images = ImageArray(np.arange(32, dtype=np.uint8).reshape(4, 1, 2, 4))
    arrays, note = kept("image", images, np.array([3]))
    assert note == {} and arrays["images"].dtype == np.uint8
    assert kind_in(note) == "image" and np.array_equal(opened(Held(arrays), note)[:], images[[3]])


@pytest.mark.parametrize(
    ("tree", "says"),
    [
        (np.array([[1.0, np.nan]]), "not finite"),
        (np.array([["a"]]), "numbers"),
        (np.array(3.0), "first axis"),
        ((IDS, MASK[:3]), "equally many"),
    ],
)
def test_arrays_that_no_network_takes_are_refused(tree, says):
    with pytest.raises(DNTKError, match=says):
        checked_arrays(tree, "train_inputs")
