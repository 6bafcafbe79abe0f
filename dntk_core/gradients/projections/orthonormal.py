"""The paper's projection: a dense random matrix with orthonormal columns."""

import math

import numpy as np
import torch
from torch import Tensor

from dntk_core.base.errors import DNTKError
from dntk_core.base.randomness import generator

# Bytes: a dense Q of P·k float32 numbers is refused above this size.
LARGEST_MATRIX = 2 * 2**30


class Orthonormal:
    """g(u) = √(P/k) Qᵀu with Q (P, k) random orthonormal: the paper's projection."""

    def __init__(self, seed: int, P: int, k: int, device: torch.device):
        if 4 * P * k > LARGEST_MATRIX:
            raise DNTKError(
                f"an orthonormal Q of {P:,} × {k:,} would take {4 * P * k / 2**30:.1f} GiB (at most "
                f"{LARGEST_MATRIX / 2**30:.0f}); use the projection 'hadamard', 'sparse' or 'structured'"
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
