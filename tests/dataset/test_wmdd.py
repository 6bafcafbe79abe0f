"""WMDD as a whole: images at the barycenter's points, nearer to them than where they began."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from dntk_core import Compute
from dntk_core.cache.workbench import Workbench
from dntk_core.data.dataset import load_data
from dntk_core.dataset.classes import Classes
from dntk_core.dataset.wmdd import wmdd


@pytest.fixture
def make(distilled_run, tmp_path):
    def run(**settings):
        spec = replace(distilled_run.spec, dataset=replace(distilled_run.spec.dataset, **settings))
        classes = Classes(spec, load_data(spec.data), distilled_run.artifacts["model"], Compute("cpu"))
        events = []
        contents, note = wmdd(classes, events.append, Workbench(tmp_path / str(len(settings))))
        return classes, contents, note, events

    return run


def distance(classes, contents):
    """How far the images' features are from their points, as the loss has it."""
    x = torch.from_numpy(classes.data.normalise(contents["images"]))
    return np.mean(np.sum((classes.encode(x)[0] - contents["points"]) ** 2, axis=1))


def test_images_come_nearer_to_their_points(make):
    classes, begun, note, events = make(iterations=1)
    _, made, _, _ = make(iterations=25, bn_weight=0.0)
    assert distance(classes, made) < 0.8 * distance(classes, begun)
    assert len(note["w2"]) == 10 and min(note["w2"]) > 0
    assert events[-1].done == events[-1].total == 20 and "barycenter of class 0" in events[0].note


def test_weights_are_shares_of_the_class_and_nothing_has_an_origin(make):
    _, made, _, _ = make(iterations=1, weights="uniform")
    assert np.allclose(made["weights"], 0.5) and set(made["origin"]) == {-1}
    assert made["images"].shape == (20, 1, 8, 8) and 0 <= made["images"].min() <= made["images"].max() <= 1


def test_noise_is_another_start_and_the_seed_decides_it(make):
    first, again = (make(iterations=1, start="noise", seed=4)[1]["images"] for _ in range(2))
    assert np.array_equal(first, again)
    assert not np.allclose(first, make(iterations=1)[1]["images"], atol=0.1)
