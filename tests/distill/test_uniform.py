"""Inputs drawn at random."""

import numpy as np

from dntk_core.distill import METHODS, Source
from tests.synthetic import draw


def test_random_inputs_are_drawn_evenly_by_class():
    problem = draw(0, m=60).problem
    classes = np.repeat([0, 1, 2], [40, 15, 5])
    source = Source(problem.kernels, problem.targets, classes)
    drawn = [row.index for row in METHODS["random"].distil(source, 30, 1e-3, seed=1).origin]
    for size in (3, 9, 15):
        assert set(np.bincount(classes[drawn[:size]], minlength=3)) == {size // 3}
    assert len(set(drawn)) == 30
