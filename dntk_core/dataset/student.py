"""How a network learns from distilled images: by what the network of real images says of every view of them."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from dntk_core.data.batch import Batch
from dntk_core.dataset.soft_labels import TEMPERATURE
from dntk_core.models.calling import call
from dntk_core.models.training import Objective


def taught(teacher: nn.Module, weights: Tensor) -> Objective:
    """Weighted distance to a teacher t on the same views: Σ_i w_i T² CE(softmax(t_i/T), softmax(f_i/T)) / Σ_i w_i."""

    def objective(logits: Tensor, chosen: Tensor, x: Batch) -> Tensor:
        with torch.no_grad():
            wanted = (_wide(call(teacher, x)) / TEMPERATURE).softmax(dim=1)
        each = F.cross_entropy(_wide(logits) / TEMPERATURE, wanted, reduction="none") * TEMPERATURE**2
        return (weights[chosen] * each).sum() / weights[chosen].sum()

    return objective


def _wide(logits: Tensor) -> Tensor:
    """Logits of products in bfloat16 as float32; wider ones stay."""
    return logits.float() if logits.dtype == torch.bfloat16 else logits
