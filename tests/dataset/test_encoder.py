"""Features and statistics against what the layers themselves see."""

import pytest
import torch
from networks import Convolutions
from torch import nn

from dntk_core.base.errors import DNTKError
from dntk_core.dataset.encoder import class_statistics, make_encoder


@pytest.fixture
def network():
    torch.manual_seed(0)
    module = Convolutions()
    for part in module.modules():
        if isinstance(part, nn.BatchNorm2d):
            nn.init.uniform_(part.running_mean, -1, 1)
            nn.init.uniform_(part.running_var, 0.5, 2)
    return module.eval()


def seen(module, part, x):
    """What goes into one layer when all of x runs at once."""
    found = []
    handle = part.register_forward_pre_hook(lambda part, args: found.append(args[0].detach()))
    with torch.no_grad():
        module(x)
    handle.remove()
    return found[0]


@pytest.mark.parametrize("memory", [1, 2**30])
def test_statistics_are_those_of_the_whole_class_whatever_the_batch(network, memory):
    x = torch.randn(7, 2, 9, 9)
    encoder = make_encoder(network, x)
    found = class_statistics(encoder, x, memory)
    torch.testing.assert_close(found.features.float(), seen(network, network.head, x))
    norms = [part for part in network.modules() if isinstance(part, nn.BatchNorm2d)]
    inputs = [seen(network, part, x) for part in norms]
    torch.testing.assert_close(found.mean, torch.cat([y.mean((0, 2, 3)) for y in inputs]))
    wanted = [(y.var((0, 2, 3), correction=0) + part.eps).sqrt() for y, part in zip(inputs, norms, strict=True)]
    torch.testing.assert_close(found.std, torch.cat(wanted))


def test_running_statistics_are_left_alone(network):
    before = {name: value.clone() for name, value in network.state_dict().items()}
    class_statistics(make_encoder(network, torch.randn(1, 2, 9, 9)), torch.randn(5, 2, 9, 9), 2**30)
    assert all(torch.equal(before[name], value) for name, value in network.state_dict().items())
    assert not any(part._forward_pre_hooks or part._forward_hooks for part in network.modules())


def test_a_network_without_batch_norm_has_no_statistics():
    module = nn.Sequential(nn.Flatten(), nn.Linear(4, 3), nn.ReLU(), nn.Linear(3, 2))
    x = torch.randn(5, 1, 2, 2)
    found = class_statistics(make_encoder(module, x), x, 2**30)
    assert found.features.shape == (5, 3) and found.mean.shape == found.std.shape == (0,)


def test_a_network_without_layers_is_refused():
    with pytest.raises(DNTKError, match="no linear or convolution"):
        make_encoder(nn.Flatten(), torch.randn(1, 1, 2, 2))
