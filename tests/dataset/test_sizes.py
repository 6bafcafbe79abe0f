"""Scores over the number of images of each class."""

import numpy as np
import pytest

from dntk_core.dataset.sizes import even_order, evenly_sized
from dntk_core.distill.mixing import selection
from dntk_core.readout.ridge import evaluate
from tests.synthetic import draw


def test_every_size_takes_the_heaviest_images_of_each_class():
    labels, weights = np.array([1, 0, 1, 0, 2, 2]), np.array([0.3, 0.9, 0.7, 0.1, 0.5, 0.5])
    order = even_order(labels, weights)
    for each in (1, 2):
        first = order[: 3 * each]
        assert np.bincount(labels[first]).tolist() == [each] * 3
        for c in range(3):
            kept, left = (weights[np.setdiff1d(np.flatnonzero(labels == c), out)] for out in ([], first))
            assert len(left) == 0 or kept.max() > left.max() or len(set(kept)) == 1


def test_each_point_is_the_readout_on_those_images_alone():
    problem = draw(0, t=40).problem
    labels, weights = np.arange(24) % 3, np.random.default_rng(0).random(24)
    curve = evenly_sized(problem, labels, weights, 1e-3)
    assert curve.x.tolist() == list(range(3, 25, 3))
    chosen = selection(even_order(labels, weights)[:6], 24)
    assert curve.mse[1] == pytest.approx(evaluate(problem, chosen, 1e-3).mse)
