"""Which layers have a fast rule, and that a new kind is one row of the table."""

import pytest
import torch
from jacobians import features, jacobian
from torch import nn

from dntk_core.base.errors import DNTKError
from dntk_core.base.spec import ProjectionSpec
from dntk_core.gradients.layers import input_side, matrix_rule_of, patch_numbers
from dntk_core.gradients.preparation import prepare
from dntk_core.gradients.rules import RULES, Rule


class Plain(nn.Linear):
    """A kind of its own that does what it derives from does."""


class Clamped(nn.Linear):
    """Idle on small inputs, such as an example may be."""

    def forward(self, x):
        return super().forward(x).clamp(-3, 3)


class Adapted(nn.Linear):
    def __init__(self, *sizes):
        super().__init__(*sizes)
        self.low = nn.Parameter(torch.randn(sizes[0]))

    def forward(self, x):
        return super().forward(x * self.low)


class ChannelNorm(nn.LayerNorm):
    def forward(self, x):
        return super().forward(x.transpose(1, 2)).transpose(1, 2)


def test_a_derived_layer_is_fast_only_if_it_inherits_what_it_computes():
    torch.manual_seed(0)
    norm = nn.Sequential(nn.Unflatten(1, (2, 3)), ChannelNorm(2), nn.Flatten())
    weighed = torch.nn.utils.parametrizations.weight_norm(nn.Linear(5, 5))
    module = nn.Sequential(Clamped(6, 6), Plain(6, 6), norm, Adapted(6, 5), weighed, nn.Linear(5, 3))
    x = torch.randn(5, 6) * torch.tensor([1, 1, 1, 20, 20])[:, None]
    assert {name.split(".")[0] for name in prepare(module, x).rest} == {"0", "2", "3", "4"}
    assert "4.bias" not in prepare(module, x).rest
    torch.testing.assert_close(features(module, x), jacobian(module, x), rtol=1e-4, atol=1e-5)


class Scale(nn.Module):
    """A toy kind of layer: y = w·x + b for every input's features (b, d)."""

    def __init__(self, d):
        super().__init__()
        self.weight, self.bias = nn.Parameter(torch.randn(d)), nn.Parameter(torch.randn(d))

    def forward(self, x):
        return torch.addcmul(self.bias, self.weight, x)


class ScaleRule(Rule):
    def gradients(self, module, side, delta):
        return side * delta, delta.clone()


def test_a_new_kind_is_one_row_of_the_table(monkeypatch):
    torch.manual_seed(0)
    module, x = nn.Sequential(nn.Linear(4, 5), Scale(5), nn.Tanh(), nn.Linear(5, 3)), torch.randn(6, 4)
    expected = jacobian(module, x)
    monkeypatch.setitem(RULES, Scale, ScaleRule())
    network = prepare(module, x)
    assert network.rest == () and any(type(layer.module) is Scale for layer in network.layers)
    torch.testing.assert_close(features(module, x), expected, rtol=1e-4, atol=1e-5)
    # The structured projection takes it too.
    assert torch.isfinite(features(module, x, ProjectionSpec("structured", k=16))).all()


class WrongRule(ScaleRule):
    def gradients(self, module, side, delta):
        return 2 * side * delta, delta.clone()


def test_a_rule_that_disagrees_with_autograd_is_not_used(monkeypatch):
    torch.manual_seed(0)
    module, x = nn.Sequential(nn.Linear(4, 5), Scale(5), nn.Linear(5, 3)), torch.randn(6, 4)
    monkeypatch.setitem(RULES, Scale, WrongRule())
    assert prepare(module, x).rest == ("1.weight", "1.bias")
    torch.testing.assert_close(features(module, x), jacobian(module, x), rtol=1e-4, atol=1e-5)


def test_patches_of_a_convolution_are_counted():
    for module, size in ((nn.Conv2d(2, 6, 3), 8), (nn.Conv2d(4, 6, 3, groups=2, stride=2), 9)):
        x = torch.randn(1, module.in_channels, size, size)
        assert patch_numbers(module, tuple(module(x).shape[1:])) == input_side(module, x).numel()
    for module in (nn.Conv2d(4, 6, 1), nn.Conv2d(4, 4, 3, groups=4), nn.Linear(3, 3), nn.ReLU()):
        assert patch_numbers(module, (4, 5, 5)) == 0


def test_only_matrices_have_a_matrix_rule():
    assert matrix_rule_of(nn.Linear(4, 3)).matrix_shape(nn.Linear(4, 3)) == (1, 3, 4)
    assert matrix_rule_of(nn.Conv2d(4, 6, 3, groups=2)).matrix_shape(nn.Conv2d(4, 6, 3, groups=2)) == (2, 3, 18)
    assert matrix_rule_of(nn.LayerNorm(3)) is None and matrix_rule_of(nn.ReLU()) is None
    with pytest.raises(DNTKError, match="no gradient rule for layers of kind ReLU"):
        input_side(nn.ReLU(), torch.zeros(1, 1))
