"""Projected gradients: how far the projection is off, and what a forward pass costs."""

import numpy as np
import pytest
import torch

from dntk_core import Compute
from dntk_core.base.spec import ProjectionSpec
from dntk_core.base.stage import Sizes
from dntk_core.base.stages import STAGES
from dntk_core.gradients.preparation import prepare
from dntk_core.gradients.stream import projector
from dntk_core.run.stages import features


def network():
    torch.manual_seed(0)
    layers = torch.nn.Sequential(torch.nn.Linear(6, 20), torch.nn.Tanh(), torch.nn.Linear(20, 3))
    return prepare(layers, torch.randn(2, 6))


def error(name: str, k: int) -> dict:
    own, x = network(), torch.randn(12, 6, generator=torch.Generator().manual_seed(1))
    through = projector(own, ProjectionSpec(name, k), torch.device("cpu"))
    return features.measure_error(own, through, x, Compute("cpu"))


def test_nothing_is_lost_without_a_projection():
    assert error("identity", 1)["measured"] < 1e-5


def test_the_measured_error_is_near_the_expected_one():
    found = error("hadamard", 64)
    assert 0.3 < found["measured"] / found["expected"] < 2 and found["inputs"] == 12
    assert 0 < found["measured_mean_kernel"] < 2 * found["measured"]


def test_a_forward_pass_counts_multiplications_and_additions():
    assert features.forward_flops(network(), torch.randn(1, 6)) == 2 * (6 * 20 + 20 * 3)


def test_features_are_on_disk_once_also_while_they_are_made(default_run):
    sizes = Sizes(C=10, m=500, t=500, k=2048, n=1297)
    written = sum(np.asarray(default_run.artifacts["features"][name]).nbytes for name in ("features", "test_features"))
    assert STAGES["features"].writes(sizes) == written
    assert default_run.artifacts["features"].note["parameters"] == pytest.approx(default_run.parameters)
