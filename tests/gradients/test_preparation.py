"""What a network is prepared to: its fast layers, the rest, and what cannot be prepared."""

import torch
from jacobians import CPU, IDENTITY, features, refusal
from networks import make
from torch import nn

from dntk_core.gradients.preparation import prepare
from dntk_core.gradients.stream import project_batch, projector


def test_preparing_leaves_the_network_as_it_was():
    module, x, _ = make("tokens")
    kinds, parameters = [type(part) for part in module.modules()], dict(module.named_parameters())
    before = module(x)
    network = prepare(module, x)
    assert [type(part) for part in module.modules()] == kinds and list(module.named_parameters()) == [
        *parameters.items()
    ]
    assert torch.equal(module(x), before)
    # The equivalent has the same parameters, not copies of them.
    with torch.no_grad():
        module.mix.weight.mul_(2.0)
    torch.testing.assert_close(project_batch(network, projector(network, IDENTITY, CPU), x)[1], module(x))


def test_a_network_that_vmap_cannot_take_is_taken_input_by_input():
    class Branch(nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = nn.Parameter(torch.randn(3, 6))

        def forward(self, x):
            scale = 2.0 if x.sum().item() > 1e9 else 1.0
            return torch.tanh(x @ self.weight.T) * scale

    module, x = Branch(), torch.randn(4, 6)
    network = prepare(module, x)
    assert network.rest == ("weight",) and not network.vmapped
    torch.testing.assert_close(features(module, x), jacobian_by_autograd(module, x), rtol=1e-4, atol=1e-5)


def test_a_network_may_refuse_other_shapes_of_its_parameters():
    class Strict(nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = nn.Parameter(torch.randn(3, 6))

        def forward(self, x):
            assert self.weight.shape == (3, 6)
            return x @ self.weight.T

    x = torch.randn(4, 6)
    assert prepare(Strict(), x).rest == ("weight",)


def jacobian_by_autograd(module, x):
    rows = [
        torch.stack([torch.autograd.grad(y[c], module.weight, retain_graph=True)[0].flatten() for c in range(len(y))])
        for y in (module(x_i[None])[0] for x_i in x)
    ]
    return torch.stack(rows, dim=1)


def test_bad_networks_are_refused_in_one_sentence():
    x = torch.randn(4, 6)
    assert "C = 1" in refusal(nn.Linear(6, 1), x)
    assert "no parameter" in refusal(nn.Linear(6, 3).requires_grad_(False), x)
    assert "(batch, C)" in refusal(nn.Sequential(nn.Linear(6, 4), nn.Unflatten(1, (2, 2))), x)
    assert "running statistics" in refusal(
        nn.Sequential(nn.BatchNorm1d(6, track_running_stats=False), nn.Linear(6, 3)), x
    )
