"""What is said of a projected dimension before anything is projected."""

import pytest

from dntk_core.gradients.johnson_lindenstrauss import dimension_warning


@pytest.mark.parametrize("ratio, warned", [(0.25, False), (1, True), (4, False)])
def test_k_near_m_is_warned_of(ratio, warned):
    sentence = dimension_warning(500, int(500 * ratio))
    assert bool(sentence) == warned
    assert not warned or "at least 2,000 or at most 250" in sentence
