"""The form that every distillation takes."""

import numpy as np
import pytest

from dntk_core.base.errors import DNTKError
from dntk_core.distill import Mixing, Origin, local_global, selection
from tests.synthetic import draw


def test_every_row_has_an_origin():
    with pytest.raises(DNTKError, match="1 origins do not fit"):
        Mixing(np.eye(2), (Origin("selected", None, 0),), nested=True)


def test_a_notebook_shows_how_many_gradients_of_which_kind():
    assert "<td>2 of 3</td><td>2 selected</td>" in selection(np.array([2, 0]), 3)._repr_html_()


def test_a_notebook_shows_the_setting_of_algorithm_1():
    drawn = draw(0)
    mixing = local_global(drawn.kernels.mean, np.arange(len(drawn.kernels.mean)) % 3, 0.5, 0.5)
    html = mixing._repr_html_()
    assert f"<td>{mixing.setting}</td>" in html and f"{mixing.counts['local']} local" in html
