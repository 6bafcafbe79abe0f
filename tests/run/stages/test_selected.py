"""Every selection has its images of every class, and ends with the same ones when it is killed and goes on."""

import numpy as np
import pytest

from dntk_core.base.selections import SELECTIONS
from dntk_core.data.dataset import load_data
from dntk_core.dataset.classes import Classes
from dntk_core.dataset.selections import Choice


def test_each_selection_chooses_distinct_images_of_each_class(distilled_run):
    made, labels = distilled_run.artifacts["selected"], load_data(distilled_run.spec.data).train_labels
    assert made.note["names"] == list(SELECTIONS)
    for index, weights in zip(made["index"], made["weights"], strict=True):
        assert len(np.unique(index)) == len(index) == 20
        assert np.array_equal(labels[index], np.repeat(np.arange(10), 2))
        np.testing.assert_allclose(weights.reshape(10, 2).sum(axis=1), 1)


def test_what_is_chosen_is_not_chosen_again(distilled_run, rebuild, monkeypatch):
    """A process that was stopped half-way has left its choices behind."""
    calls = []

    def choose(self, name, c):
        calls.append((name, c))
        if len(calls) == 23:
            raise KeyboardInterrupt
        return Choice(self.members(c)[:2], np.array([0.5, 0.5]))

    monkeypatch.setattr(Classes, "choose", choose)
    with pytest.raises(KeyboardInterrupt):
        rebuild(distilled_run, "selected")
    rebuild(distilled_run, "selected")
    assert len(calls) == 10 * len(SELECTIONS) + 1 and calls[22] == calls[23]
