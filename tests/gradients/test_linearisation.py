"""Tangents: nothing is lost on a linear model; else they are what a Jacobian gives."""

import copy

import torch
from torch import nn
from torch.func import functional_call, jacrev

from dntk_core.gradients.linearisation import linearisation_error, linearised, tangent
from dntk_core.models.small_resnet import SmallResNet


def at(make, seed):
    torch.manual_seed(seed)
    return make().eval()


def test_a_linear_model_is_its_tangent():
    x = torch.randn(80, 6)
    one, other = (at(lambda: nn.Linear(6, 3), seed) for seed in (0, 1))
    found = linearised(one, other, x)
    assert found.error < 1e-6 and found.following == found.error and found.agreement == 1
    assert linearised(one, one, x).error == 0


def test_the_tangent_is_what_the_jacobian_gives():
    x = torch.randn(3, 1, 8, 8)
    one, other = (at(lambda: SmallResNet(1, 4, width=2), seed) for seed in (0, 1))
    start = {name: p.detach() for name, p in one.named_parameters()}
    there = {name: p.detach() for name, p in other.named_parameters()}
    J = jacrev(lambda parameters: functional_call(one, parameters, (x,)))(start)
    moved = sum((J[name] * (there[name] - start[name])).flatten(2).sum(-1) for name in start)
    found, logs = (sum(tangent(one, other, x, outputs)) for outputs in ("logits", "log_softmax"))
    start, end = (network(x).detach().double() for network in (one, other))
    torch.testing.assert_close(found, start + moved.double(), rtol=1e-4, atol=1e-5)
    assert linearised(one, other, x).error == linearisation_error(found, start, end) > 0.05
    # Log-probabilities have a tangent of their own.
    assert not torch.allclose(logs, found.log_softmax(-1))


def test_statistics_that_no_gradient_moves_do_not_count_against_the_parameters():
    one = at(lambda: nn.Sequential(nn.Linear(6, 5), nn.BatchNorm1d(5)), 0)
    other = copy.deepcopy(one)
    with torch.no_grad():
        # Linear in what moves, but for the statistics.
        other[1].weight.add_(torch.rand(5))
        other[1].running_mean.add_(torch.rand(5))
        other[1].running_var.mul_(3)
    found = linearised(one, other, torch.randn(80, 6))
    assert found.error > 0.3 and found.following < 1e-6
    assert one[1].running_mean is not None
