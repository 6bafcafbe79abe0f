"""Sketches of the class axis: q random sums of C logits in the place of the logits, for as many gradients.

With signs ε ∈ {±1}^C, φ_ε = Σ_c ε_c φ^c has E⟨φ_ε(x), φ_ε(y)⟩ = Σ_c K^c(x, y) = C·K̄(x, y): each is one backward pass.
"""

from math import ceil

import numpy as np
import torch
from torch import Tensor, nn

from dntk_core.base.errors import DNTKError
from dntk_core.data.batch import Batch, length, take, to
from dntk_core.models.calling import arguments, in_precision_of, logits


def signs(C: int, q: int, seed: int) -> np.ndarray:
    """Draw q rows of a Hadamard matrix whose columns have random signs: (q, C) of ±1.

    Every entry is a fair coin, and of two different ones in a row the product has mean 0, which is all that is needed.
    Rows are orthogonal, so that all of them together (q the power of two at C or above) give K̄ exactly.

    >>> signs(3, 4, 0).T @ signs(3, 4, 0)
    array([[4., 0., 0.],
           [0., 4., 0.],
           [0., 0., 4.]])
    """
    order = 2 ** ceil(np.log2(C))
    if not 1 <= q <= order:
        raise DNTKError(f"the class sketch of {C:,} classes must be 1 to {order:,}, where it is exact; got {q:,}")
    generator = np.random.default_rng(seed)
    rows = generator.permutation(order)[:q]
    parity = np.array([[int(r & c).bit_count() & 1 for c in range(C)] for r in map(int, rows)])
    return np.where(parity, -1.0, 1.0) * generator.choice([-1.0, 1.0], C)


def combinations(C: int, q: int, seed: int, exact: tuple[int, ...]) -> np.ndarray:
    """The functions whose gradients are taken, as weights of the logits: q sums, then the exact classes: (q + e, C).

    Sums are divided by √C, so that the mean of their kernels is K̄.
    """
    if exact and max(exact) >= C:
        raise DNTKError(f"the exact classes must lie in 0..{C - 1}, got {max(exact)}")
    return np.concatenate([signs(C, q, seed) / np.sqrt(C), np.eye(C)[list(exact)]])


# Outputs of an input that are taken for its largest.
LARGEST = 5


def most_often(outputs: Tensor, count: int) -> tuple[tuple[int, ...], float]:
    """The classes that stand most often among the LARGEST outputs (n, C) of an input, and their share of all places.

    A share of 1 says that every input's largest outputs are among these classes.

    >>> most_often(torch.tensor([[3.0, 2, 1, 0, 0, 9, 8], [3.0, 2, 1, 9, 0, 0, 8]]), 3)
    ((0, 1, 2), 0.6)
    """
    C = outputs.shape[1]
    if not 1 <= count <= C:
        raise DNTKError(f"there are {C:,} classes to take exact ones from, got top{count}")
    places = torch.bincount(outputs.topk(min(LARGEST, C)).indices.flatten(), minlength=C).numpy()
    chosen = np.argsort(-places, kind="stable")[:count]
    return tuple(sorted(map(int, chosen))), float(places[chosen].sum() / places.sum())


class Sketched(nn.Module):
    """A classifier whose outputs are sums of another's, z = W f(x) for weights W (R, C)."""

    def __init__(self, network: nn.Module, outputs: str, weights: np.ndarray):
        super().__init__()
        self.network, self.outputs = network, outputs
        self.register_buffer("sums", torch.tensor(weights, dtype=torch.float32))

    def forward(self, *parts: Tensor, **named: Tensor) -> Tensor:
        return self.answer(*parts, **named) @ self.get_buffer("sums").T

    def answer(self, *parts: Tensor, **named: Tensor) -> Tensor:
        """f(x), (b, C), as it is studied."""
        y = logits(self.network(*parts, **named)).float()
        return y.log_softmax(-1) if self.outputs == "log_softmax" else y


@torch.no_grad()
def answers(module: Sketched, x: Batch, batch: int) -> Tensor:
    """f(x) of many inputs, (n, C), on the CPU; some at a time."""
    place = module.get_buffer("sums").device
    found = []
    for start in range(0, length(x), batch):
        args, kwargs = arguments(in_precision_of(module, to(take(x, slice(start, start + batch)), place)))
        found.append(module.answer(*args, **kwargs).cpu())
    return torch.cat(found)


def spread(features: np.ndarray) -> float:
    """What the relative error of a sketched K̄ is to expect at q = 1, of features (C, b, k) of a few inputs.

    Of q sums of independent signs it is a/√q, a² = Σ_xy Σ_{c≠c'} (M_cc'² + M_cc' M_c'c) / Σ_xy (Σ_c M_cc)², where
    M_cc' = ⟨φ^c(x), φ^c'(y)⟩.
    """
    C, b, k = features.shape
    flat = np.asarray(features, np.float64).reshape(C * b, k)
    M = (flat @ flat.T).reshape(C, b, C, b).transpose(1, 3, 0, 2)
    noise = np.sum(M**2) + np.einsum("xycd,xydc->", M, M) - 2 * np.sum(np.einsum("xycc->xyc", M) ** 2)
    return float(np.sqrt(noise / np.sum(np.einsum("xycc->xy", M) ** 2)))


def sufficient_sketch(spread: float, error: float, C: int) -> int:
    """The smallest q with spread/√q at most the error; never more than makes it exact.

    >>> sufficient_sketch(0.29, 0.05, 1000)
    34
    """
    return min(ceil((spread / error) ** 2), 2 ** ceil(np.log2(C)))
