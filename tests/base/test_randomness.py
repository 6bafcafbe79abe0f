"""Random numbers are a pure function of seed and names."""

import numpy as np

from dntk_core.base.randomness import generator, signs


def test_random_numbers_depend_on_every_name():
    drawn = {generator(seed, name).integers(2**62) for seed in (0, 1) for name in ("a", "b", "a/b")}
    assert len(drawn) == 6
    s = signs(generator(0, "x"), 1000, 3)
    assert s.shape == (1000, 3) and set(np.unique(s)) == {-1.0, 1.0} and abs(s.mean()) < 0.1
