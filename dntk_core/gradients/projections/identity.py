"""No projection: all P numbers of a gradient are kept, and kernels are exact."""

import torch
from torch import Tensor


class Identity:
    """g(u) = u, k = P: the exact kernel."""

    def __init__(self, seed: int, P: int, k: int, device: torch.device):
        self.k = P

    def __call__(self, u: Tensor) -> Tensor:
        """(b, P) → (b, P)."""
        return u
