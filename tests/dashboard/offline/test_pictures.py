"""Figures as files."""

import numpy as np
from PIL import Image

from dntk_core.dashboard.figures.canvas import figure
from dntk_core.dashboard.offline.pictures import save_pictures


def test_long_names_beside_an_axis_are_not_cut(tmp_path):
    bars = {"type": "bar", "orientation": "h", "x": [1, 2], "y": ["a class with a name of many words", "another"]}
    save_pictures({tmp_path / "bars.png": figure([bars], height=200)})
    with Image.open(tmp_path / "bars.png") as picture:
        shown = np.asarray(picture.convert("L"))
    assert (shown[:, :4] == 255).all() and (shown[:, 8:200] < 128).any()
