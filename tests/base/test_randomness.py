"""Random numbers are a pure function of seed and names."""

import numpy as np

from dntk_core.base.randomness import generator, signs


def test_random_numbers_depend_on_every_name():
    drawn = {generator(seed, name).integers(2**62) for seed in (0, 1) for name in ("a", "b", "a/b")}
    assert len(drawn) == 6
    s = signs(generator(0, "x"), 1000, 3)
    assert s.shape == (1000, 3) and set(np.unique(s)) == {-1.0, 1.0} and abs(s.mean()) < 0.1


def test_the_same_names_give_the_same_numbers_for_ever():
    # Projections of earlier caches depend on these: a new algorithm must raise the stage's version.
    assert generator(0, "x", 3).integers(1000, size=4).tolist() == [283, 584, 833, 317]
    assert "".join("+" if sign > 0 else "-" for sign in signs(generator(0, "x"), 16)) == "--+---+---++---+"
