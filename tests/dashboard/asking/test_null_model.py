"""Beside chance: more, less, or no more."""

import pytest

from dntk_core.dashboard.asking.null_model import against, cut_short
from dntk_core.kernels.spectrum import Between


@pytest.mark.parametrize(
    "value, random, says",
    [
        (0.9, [], "."),
        (0.9, [0.80, 0.85], "80.0–85.0%: 5.0 points more than chance."),
        (0.7, [0.80, 0.85], "10.0 points less than chance."),
        (0.82, [0.80, 0.85], "no more than chance."),
        (0.85004, [0.85, 0.85], "85.0%: no more than chance."),
    ],
)
def test_a_share_is_set_beside_what_random_clusters_have(value, random, says):
    assert against(value, random).endswith(says)


def test_a_rank_that_is_not_known_exactly_is_said_to_be_cut_short():
    assert cut_short(5, Between(5, 5)) == ""
    assert "first 5 of 7–9 directions" in cut_short(5, Between(7, 9))
