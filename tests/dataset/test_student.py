"""What a network learns from distilled images."""

import numpy as np
import torch

from dntk_core.dataset.soft_labels import TEMPERATURE, shares
from dntk_core.dataset.student import taught


def test_the_objective_is_the_weighted_cross_entropy_of_softened_shares_of_each_view():
    rng = np.random.default_rng(0)
    views, weights, logits = rng.standard_normal((4, 5)), rng.random(6), rng.standard_normal((4, 3))
    teacher = torch.nn.Linear(5, 3, dtype=torch.float64)
    wanted, own = shares(teacher(torch.from_numpy(views)).detach().numpy()), shares(logits)
    chosen = np.array([5, 0, 3, 3])
    each = [-(TEMPERATURE**2) * wanted[row] @ np.log(own[row]) for row in range(4)]
    expected = np.average(each, weights=weights[chosen])
    found = taught(teacher, torch.from_numpy(weights))(
        torch.from_numpy(logits), torch.from_numpy(chosen), torch.from_numpy(views)
    )
    np.testing.assert_allclose(found.item(), expected)


def test_it_is_least_where_the_network_says_the_same():
    teacher, x = torch.nn.Linear(4, 3), torch.randn(5, 4, generator=torch.Generator().manual_seed(0))
    logits = teacher(x).detach().requires_grad_()
    (slope,) = torch.autograd.grad(taught(teacher, torch.ones(5))(logits, torch.arange(5), x), logits)
    torch.testing.assert_close(slope, torch.zeros_like(slope), atol=1e-6, rtol=0)
