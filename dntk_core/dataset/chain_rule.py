"""Loss gradients taken directly, to check that they are combinations of logit gradients."""

import numpy as np
import torch
from torch import Tensor

from dntk_core.dataset.tangent import loss_gradients
from dntk_core.gradients.general import general_gradients
from dntk_core.gradients.network import Network, run
from dntk_core.gradients.projections import Projector


def direct_loss_gradients(network: Network, through: Projector, x: Tensor, delta: Tensor) -> Tensor:
    """Project ∇_θ ℓ(f(x_i), y_i) by one backward pass of the sensitivities δ (b, C): (b, k)."""
    tape = run(network, x)
    rest = general_gradients(network, x, tape.rest)(delta)
    return through.project(through.begin(tape.calls), tape.signals(delta), rest)


def chain_rule_error(network: Network, through: Projector, x: Tensor, features: np.ndarray, delta: np.ndarray) -> float:
    """Compare g = Φᵀδ with the directly taken loss gradients: largest relative difference over inputs.

    features: (C, b, k), delta: (b, C)
    """
    combined = loss_gradients(features, delta)
    direct = direct_loss_gradients(network, through, x, torch.from_numpy(delta).to(x)).double().cpu().numpy()
    norms = np.linalg.norm(combined, axis=1)
    return float(np.max(np.linalg.norm(direct - combined, axis=1) / np.where(norms > 0, norms, 1.0)))
