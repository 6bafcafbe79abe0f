"""What a network learns from distilled images."""

import numpy as np
import torch

from dntk_core.dataset.soft_labels import TEMPERATURE, shares
from dntk_core.dataset.student import soft_objective


def test_the_objective_is_the_weighted_cross_entropy_of_softened_shares():
    rng = np.random.default_rng(0)
    wanted, weights, logits = shares(rng.standard_normal((6, 3))), rng.random(6), rng.standard_normal((4, 3))
    chosen = np.array([5, 0, 3, 3])
    own = shares(logits)
    each = [-(TEMPERATURE**2) * wanted[i] @ np.log(own[row]) for row, i in enumerate(chosen)]
    expected = np.average(each, weights=weights[chosen])
    objective = soft_objective(torch.from_numpy(wanted), torch.from_numpy(weights))
    np.testing.assert_allclose(objective(torch.from_numpy(logits), torch.from_numpy(chosen)).item(), expected)


def test_it_is_least_where_the_network_says_the_same():
    logits = torch.randn(5, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(0), requires_grad=True)
    objective = soft_objective(torch.from_numpy(shares(logits.detach().numpy())), torch.ones(5, dtype=torch.float64))
    (slope,) = torch.autograd.grad(objective(logits, torch.arange(5)), logits)
    torch.testing.assert_close(slope, torch.zeros_like(slope), atol=1e-12, rtol=0)
