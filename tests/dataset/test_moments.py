"""Watched batch norms: moments and gradients are those of autograd's own, in either layout and precision."""

import pytest
import torch
from torch import nn

from dntk_core.dataset.moments import frozen, moments_of


def norm_of(channels, **options):
    torch.manual_seed(0)
    norm = nn.BatchNorm2d(channels, **options).eval().requires_grad_(False)
    for values in (norm.running_mean, norm.running_var, norm.weight, norm.bias):
        if values is not None:
            nn.init.uniform_(values, 0.5, 2)
    return norm


@pytest.mark.parametrize("layout", [torch.contiguous_format, torch.channels_last])
def test_moments_and_their_gradients_are_autograds(layout):
    torch.manual_seed(1)
    y = torch.randn(3, 5, 4, 6).to(memory_format=layout).requires_grad_()
    by_mean, by_variance = torch.randn(2, 3, 5)
    flat = y.flatten(2)
    wanted = flat.mean(2), flat.var(2, correction=0)
    found = moments_of(y)
    for ours, theirs in zip((found.mean, found.variance), wanted, strict=True):
        torch.testing.assert_close(ours, theirs)
    gradients = [
        torch.autograd.grad((mean * by_mean + variance * by_variance).sum(), y)[0]
        for mean, variance in ((found.mean, found.variance), wanted)
    ]
    torch.testing.assert_close(*gradients)


@pytest.mark.parametrize("options", [{}, {"affine": False}, {"track_running_stats": False}])
def test_a_frozen_norm_and_an_in_place_layer_behind_it_go_back_as_autograds(options):
    norm = norm_of(5, **options)
    y = torch.randn(3, 5, 4, 4, requires_grad=True)
    weight = torch.randn(3, 5, 4, 4)
    ours, theirs = nn.ReLU(inplace=True)(frozen(norm, y, norm(y))), nn.ReLU()(norm(y))
    torch.testing.assert_close(ours, theirs)
    torch.testing.assert_close(*(torch.autograd.grad((out * weight).sum(), y)[0] for out in (ours, theirs)))


def test_constant_channels_have_no_variance_below_zero():
    found = moments_of(torch.full((2, 3, 7, 7), 1 / 3, requires_grad=True))
    assert (found.variance >= 0).all() and found.variance.max() < 1e-6


def test_inputs_in_half_precision_have_moments_in_full():
    y = torch.randn(2, 3, 8, 8).bfloat16().requires_grad_()
    found = moments_of(y)
    torch.testing.assert_close(found.mean, y.float().flatten(2).mean(2))
    (gradient,) = torch.autograd.grad(found.variance.sum(), y)
    assert gradient.dtype == torch.bfloat16
    wanted = 2 / 64 * (y.float() - found.mean[..., None, None])
    torch.testing.assert_close(gradient.float(), wanted, rtol=0.02, atol=1e-3)
