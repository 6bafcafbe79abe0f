"""A subsampled randomised Hadamard transform: orthonormal rows that are never formed."""

import math

import numpy as np
import torch
from torch import Tensor

from dntk_core.base.randomness import generator, signs


class Hadamard:
    """g(u) = √(P/k) S T u: k rows of a randomised orthogonal transform T of R^P, matrix-free, O(P log P).

    T flips signs and applies Hadamard transforms to two overlapping blocks of size 2^a ≤ P < 2^(a+1), the first and
    the last, so that T is exactly orthogonal for every P, and S T has orthonormal rows.
    """

    def __init__(self, seed: int, P: int, k: int, device: torch.device):
        rng = generator(seed, "hadamard", P, k)
        self.k, self.P, self.block = k, P, 1 << (P.bit_length() - 1)
        self.flips = [torch.from_numpy(signs(rng, P)).to(device) for _ in range(2)]
        rows = np.sort(rng.permutation(P)[:k])
        self.rows = torch.from_numpy(rows).to(device)

    def __call__(self, u: Tensor) -> Tensor:
        """(b, P) → (b, k)."""
        v = u * self.flips[0]
        v[:, : self.block] = walsh_hadamard(v[:, : self.block])
        v *= self.flips[1]
        v[:, self.P - self.block :] = walsh_hadamard(v[:, self.P - self.block :])
        return v[:, self.rows] * math.sqrt(self.P / self.k)


def walsh_hadamard(v: Tensor) -> Tensor:
    """Orthonormal Walsh–Hadamard transform of the rows of v, (b, 2^a), by a doubling butterfly.

    >>> walsh_hadamard(torch.tensor([[1.0, 0.0, 0.0, 0.0]]))
    tensor([[0.5000, 0.5000, 0.5000, 0.5000]])
    """
    b, size = v.shape
    half = 1
    while half < size:
        left, right = v.reshape(b, -1, 2, half).unbind(2)
        v = torch.stack((left + right, left - right), dim=2).reshape(b, size)
        half *= 2
    return v / math.sqrt(size)
