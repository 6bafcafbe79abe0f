"""One formula for a batch's memory: it grows with what is kept, formed and projected."""

import torch
from torch import nn

from dntk_core.base.spec import ProjectionSpec
from dntk_core.gradients.batch_memory import expected_input_bytes, input_bytes
from dntk_core.gradients.preparation import prepare


def network(width: int):
    x = torch.randn(2, 8)
    return prepare(nn.Sequential(nn.Linear(8, width), nn.ReLU(), nn.Linear(width, 3)), x, "logits")


def test_a_larger_network_and_whole_gradients_take_more():
    small, large = network(10), network(1000)
    assert input_bytes(small, 0, False, 64) < input_bytes(large, 0, False, 64) < input_bytes(large, 0, True, 64)
    assert input_bytes(small, 100, False, 64) - input_bytes(small, 0, False, 64) == 4 * 100
    assert input_bytes(small, 0, False, 65) - input_bytes(small, 0, False, 64) == 4 * (3 + 4)


def test_projections_that_form_whole_gradients_are_expected_to_take_more():
    large = network(1000)
    structured, sparse = (
        expected_input_bytes(large, ProjectionSpec(name, 64), 64) for name in ("structured", "sparse")
    )
    assert structured < sparse
