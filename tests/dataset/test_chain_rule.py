"""Loss gradients are combinations of logit gradients."""

import numpy as np
import pytest
import torch
from networks import Convolutions

from dntk_core.base.compute import Compute
from dntk_core.base.spec import ProjectionSpec
from dntk_core.dataset.chain_rule import chain_rule_error, direct_loss_gradients
from dntk_core.dataset.tangent import loss_gradients, sensitivities
from dntk_core.gradients.preparation import prepare
from dntk_core.gradients.stream import projector, stream


@pytest.fixture(scope="module")
def network():
    torch.manual_seed(0)
    x = torch.randn(30, 2, 9, 9)
    return prepare(Convolutions().eval(), x), x


def gradients(network, x, name, k, seed=0):
    through = projector(network, ProjectionSpec(name, k, seed), torch.device("cpu"))
    features, logits = zip(*stream(network, through, x, Compute("cpu")), strict=True)
    return through, torch.cat(features, 1).numpy(), torch.cat(logits).numpy()


@pytest.mark.parametrize("name", ["identity", "structured", "sparse"])
def test_loss_gradients_are_combinations_of_logit_gradients(network, name):
    module, x = network
    through, features, logits = gradients(module, x, name, 64)
    delta = sensitivities(logits, np.arange(30) % 3)
    assert chain_rule_error(module, through, x, features, delta) < 1e-4
    assert chain_rule_error(module, through, x.flip(0), features, delta) > 0.01


def test_the_identity_projections_loss_gradient_is_autograds(network):
    module, x = network
    through, features, logits = gradients(module, x, "identity", 64)
    labels = np.arange(30) % 3
    loss = torch.nn.functional.cross_entropy(module.module(x), torch.from_numpy(labels), reduction="sum")
    wanted = torch.cat([g.flatten() for g in torch.autograd.grad(loss, list(module.module.parameters()))])
    delta = sensitivities(logits, labels)
    np.testing.assert_allclose(loss_gradients(features, delta).sum(axis=0), wanted.numpy(), rtol=1e-3, atol=1e-4)
    direct = direct_loss_gradients(module, through, x, torch.from_numpy(delta).float()).sum(0)
    torch.testing.assert_close(direct, wanted, rtol=1e-3, atol=1e-4)
