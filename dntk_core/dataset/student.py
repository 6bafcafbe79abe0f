"""How a network learns from distilled images: by their soft labels, each image by its weight."""

import torch.nn.functional as F
from torch import Tensor

from dntk_core.dataset.soft_labels import TEMPERATURE
from dntk_core.models.training import Objective


def soft_objective(wanted: Tensor, weights: Tensor) -> Objective:
    """Weighted distance to shares p (m, C) of soft labels: Σ_i w_i T² CE(p_i, softmax(f_i/T)) / Σ_i w_i."""

    def objective(logits: Tensor, chosen: Tensor) -> Tensor:
        each = F.cross_entropy(logits / TEMPERATURE, wanted[chosen], reduction="none") * TEMPERATURE**2
        return (weights[chosen] * each).sum() / weights[chosen].sum()

    return objective
