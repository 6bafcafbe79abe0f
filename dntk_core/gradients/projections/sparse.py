"""CountSketch: one signed entry per coordinate."""

import torch
from torch import Tensor

from dntk_core.base.randomness import generator, signs


class Sparse:
    """g(u)_j = Σ_{i: h(i) = j} ±u_i: CountSketch."""

    def __init__(self, seed: int, P: int, k: int, device: torch.device):
        rng = generator(seed, "sparse", P, k)
        self.k = k
        self.buckets = torch.from_numpy(rng.integers(0, k, size=P)).to(device)
        self.signs = torch.from_numpy(signs(rng, P)).to(device)

    def __call__(self, u: Tensor) -> Tensor:
        """(b, P) → (b, k)."""
        return u.new_zeros(len(u), self.k).index_add_(1, self.buckets, u * self.signs)
