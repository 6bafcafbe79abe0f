"""Seeded random projections R^P → R^k of whole gradients, unbiased: E⟨g(u), g(v)⟩ = ⟨u, v⟩.

Each is a pure function of (seed, P, k). `structured`, which never forms a whole gradient, is in sketch.py.
"""

import math

import numpy as np
import torch
from torch import Tensor

from dntk_core.base.errors import DNTKError
from dntk_core.base.randomness import generator, signs

# A dense Q of P·k float32 entries is refused above this size.
LARGEST_DENSE = 2 * 2**30


class Identity:
    """g(u) = u, k = P: the exact kernel."""

    def __init__(self, seed: int, P: int, k: int, device: torch.device):
        self.k = P

    def __call__(self, u: Tensor) -> Tensor:
        """(b, P) → (b, P)."""
        return u


class Orthonormal:
    """g(u) = √(P/k) Qᵀu with Q (P, k) random orthonormal: the paper's projection."""

    def __init__(self, seed: int, P: int, k: int, device: torch.device):
        if 4 * P * k > LARGEST_DENSE:
            raise DNTKError(
                f"an orthonormal Q of {P:,} × {k:,} would take {4 * P * k / 2**30:.1f} GiB (at most "
                f"{LARGEST_DENSE / 2**30:.0f}); use the projection 'hadamard', 'sparse' or 'structured'"
            )
        self.k = k
        gaussian = generator(seed, "orthonormal", P, k).standard_normal((P, k))
        Q, R = np.linalg.qr(gaussian)
        # With the signs of R's diagonal fixed, Q is uniform over orthonormal frames.
        Q *= np.sign(np.diag(R)) * math.sqrt(P / k)
        self.scaled = torch.from_numpy(Q.astype(np.float32)).to(device)

    def __call__(self, u: Tensor) -> Tensor:
        """(b, P) → (b, k)."""
        return u @ self.scaled


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


class Sparse:
    """g(u)_j = Σ_{i: h(i) = j} ±u_i: CountSketch, one signed entry per coordinate."""

    def __init__(self, seed: int, P: int, k: int, device: torch.device):
        rng = generator(seed, "sparse", P, k)
        self.k = k
        self.buckets = torch.from_numpy(rng.integers(0, k, size=P)).to(device)
        self.signs = torch.from_numpy(signs(rng, P)).to(device)

    def __call__(self, u: Tensor) -> Tensor:
        """(b, P) → (b, k)."""
        return u.new_zeros(len(u), self.k).index_add_(1, self.buckets, u * self.signs)


PROJECTIONS = {"identity": Identity, "orthonormal": Orthonormal, "hadamard": Hadamard, "sparse": Sparse}


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
