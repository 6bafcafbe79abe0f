"""The general path gives autograd's gradients, batched or one by one, and refuses outputs that need their batch."""

import pytest
import torch
from jacobians import by_autograd
from torch import nn

from dntk_core.base.errors import DNTKError
from dntk_core.gradients.general import check_alone, general_gradients
from dntk_core.gradients.preparation import prepare

X = torch.randn(3, 4, generator=torch.Generator().manual_seed(0))


@pytest.fixture
def network():
    torch.manual_seed(0)
    return prepare(nn.Sequential(nn.Linear(4, 5), nn.Tanh(), nn.Linear(5, 2)), X, "logits")


def test_all_parameters_of_any_network(network):
    names = tuple(network.sizes)
    gradients = general_gradients(network, X, names)
    for c, expected in enumerate(by_autograd(network.module, X)):
        found = gradients(torch.eye(2)[c].expand(3, 2))
        torch.testing.assert_close(torch.cat([found[name] for name in names], dim=1), expected)


def test_nothing_asked_is_nothing_computed(network):
    assert general_gradients(network, X, ())(torch.ones(3, 2)) == {}


def test_outputs_that_change_with_the_batch_are_refused(network):
    together = network(X).detach()
    check_alone(network, together, together * (1 + 1e-6))
    with pytest.raises(DNTKError, match="input 1 change with the batch"):
        check_alone(network, together, together * torch.tensor([[1.0], [1.1], [1.0]]))
