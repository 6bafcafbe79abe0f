"""A dataset of image files."""

import pytest
from pictures import paint


@pytest.fixture
def folder(tmp_path):
    """Two classes, red and blue, three training and two validation images each."""
    for split, count in (("train", 3), ("val", 2)):
        for i in range(count):
            paint(tmp_path / split / "blue" / f"{i}.png", (0, 0, 255))
            paint(tmp_path / split / "red" / f"{i}.jpg", (255, 0, 0))
    return tmp_path
