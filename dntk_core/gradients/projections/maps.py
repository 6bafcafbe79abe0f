"""The linear maps that the structured projection is made of, one for each parameter, all into the same k buckets.

With G = Σ_positions δ ⊗ a (o × i) the gradient of a weight matrix:

    Formed      fold(G)                  signs, then every k-th coordinate summed
    Filtered    fold(G Fᵀ/√r)            a projected to r dimensions by random ±1 filters F first, once per input
    Convolved   Σ_positions sketch(δ) ∗ sketch(a)    TensorSketch: circular convolution, as a product in Fourier space

Signs, offsets, hashes and filters are keyed by (seed, parameter name): the same for every batch and device. A map
takes a gradient that is formed as well, and gives the same.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from typing import Protocol

import torch
from torch import Tensor

from dntk_core.base.randomness import generator, signs
from dntk_core.gradients.rules import Call, MatrixOperation
from dntk_core.gradients.rules.operation import Room, outers

# Dimensions to which wide inputs are projected, for spatial kernels and for all others. Each layer adds a relative
# variance of about 1/FILTERS of its own share of the kernel, which must stay well below the 1/k of the sketch itself.
# Pretrained MobileNets have single pointwise layers with 15 % of the kernel: with 128 their error was 1.16 times the
# expected one over five seeds, with 256 it is 0.96.
SPATIAL_FILTERS, FILTERS = 128, 256
# Kernels that do not overlap cut a picture into patches. They stand alone between blocks, and hold the more: the three
# of an untrained ConvNeXt-T have 60 % of its kernel; with 128 filters its error was 1.17 times the expected one.
PATCH_FILTERS = 512
# Projecting must halve a layer's cost and save this many nanoseconds per input and logit to be worth its variance.
WORTH_IT = 50_000


class Map(Protocol):
    """A linear map of one parameter's gradient to R^k."""

    def add(self, out: Tensor, u: Tensor) -> None:
        """Add the image of gradients u (b, p), which may be overwritten, to out (b, k)."""
        ...


class Fold:
    """g(u)_j = Σ_{i ≡ j - offset (mod k)} ±u_i: one signed entry per coordinate, u (b, p)."""

    def __init__(self, seed: int, name: str, p: int, k: int, device: torch.device):
        rng = generator(seed, "fold", name)
        self.k = k
        self.offset = int(rng.integers(k))
        self.signs = torch.from_numpy(signs(rng, p)).to(device)

    def add(self, out: Tensor, u: Tensor) -> None:
        """Add g(u) to out, (b, k); u is overwritten, which spares a copy of every gradient."""
        self._rotate(out, self._sums(u))

    def add_parts(self, out: Tensor, parts: Iterable[Tensor]) -> None:
        """Add g(u) of a u that comes some inputs at a time."""
        self._rotate(out, torch.cat([self._sums(part) for part in parts]))

    def _sums(self, u: Tensor) -> Tensor:
        """g(u) before it is put at its offset, (b, k) or fewer columns."""
        v = u.mul_(self.signs)
        b, p = v.shape
        rows, rest = divmod(p, self.k)
        if not rows:
            return v
        sums = v[:, : rows * self.k].reshape(b, rows, self.k).sum(1)
        if rest:
            sums[:, :rest] += v[:, rows * self.k :]
        return sums

    def places(self, tokens: Tensor, width: int) -> tuple[Tensor, Tensor]:
        """Buckets and signs of whole rows of a table, (b, T·width); tokens: their numbers (b, T)."""
        entries = (tokens.unsqueeze(2) * width + torch.arange(width, device=tokens.device)).flatten(1)
        return (entries + self.offset) % self.k, self.signs[entries]

    def add_rows(self, out: Tensor, places: tuple[Tensor, Tensor], rows: Tensor) -> None:
        """Add g(u) of a u that is zero but for some rows, (b, T, width), without forming it."""
        buckets, flips = places
        out.scatter_add_(1, buckets, rows.flatten(1) * flips)

    def _rotate(self, out: Tensor, v: Tensor) -> None:
        """Add v at the offset, wrapping round."""
        head = min(self.k - self.offset, v.shape[1])
        out[:, self.offset : self.offset + head] += v[:, :head]
        if head < v.shape[1]:
            out[:, : v.shape[1] - head] += v[:, head:]


class MatrixMap(ABC):
    """What maps of a weight share that take signals and input sides."""

    def __init__(self, call: Call, seed: int, name: str, k: int, device: torch.device):
        self.call, self.operation, self.k = call, matrix_operation(call), k
        self.g, self.o, self.i = self.operation.matrix_shape(call)

    @staticmethod
    @abstractmethod
    def kept(call: Call, k: int) -> int:
        """Numbers of one input that are kept while all logits are taken."""

    @abstractmethod
    def begin(self, call: Call) -> Tensor:
        """Do once per batch what does not depend on the logit."""

    @abstractmethod
    def add_signal(self, out: Tensor, spectrum: Tensor, call: Call, a: Tensor, delta: Tensor, room: Room) -> None:
        """Add the sketch of the weight's gradient to `out`, or its Fourier transform to `spectrum`."""

    @abstractmethod
    def add_matrix(self, out: Tensor, G: Tensor) -> None:
        """Add the sketch of matrices G (b, g, o, i)."""

    def add(self, out: Tensor, u: Tensor) -> None:
        self.add_matrix(out, self.operation.to_matrix(self.call, u))


class Formed(MatrixMap):
    """fold(G), for all inputs at once or one after the other."""

    def __init__(self, call: Call, seed: int, name: str, k: int, device: torch.device):
        super().__init__(call, seed, name, k, device)
        self.fold = Fold(seed, name, self.g * self.o * self.i, k, device)

    def begin(self, call: Call) -> Tensor:
        return call.operation.side(call)

    def add_signal(self, out: Tensor, spectrum: Tensor, call: Call, a: Tensor, delta: Tensor, room: Room) -> None:
        found = (self.operation.from_matrix(G).flatten(1) for G in products(call, a, delta, room))
        self.fold.add_parts(out, found)

    def add_matrix(self, out: Tensor, G: Tensor) -> None:
        self.fold.add(out, self.operation.from_matrix(G).flatten(1))

    @staticmethod
    def kept(call: Call, k: int) -> int:
        return call.operation.side_numbers(call)


class Filtered(MatrixMap):
    """fold(Σ δ ⊗ F a/√r): the input side is projected once per input, for all logits."""

    def __init__(self, call: Call, seed: int, name: str, k: int, device: torch.device):
        super().__init__(call, seed, name, k, device)
        r = min(filter_count(call), self.i)
        filters = signs(generator(seed, "filters", name), self.g * r, self.i) / math.sqrt(r)
        self.filters = torch.from_numpy(filters).to(device)
        self.fold = Fold(seed, name, self.g * self.o * r, k, device)

    def begin(self, call: Call) -> Tensor:
        return matrix_operation(call).projected(call, self.filters).contiguous()

    def add_signal(self, out: Tensor, spectrum: Tensor, call: Call, a: Tensor, delta: Tensor, room: Room) -> None:
        self.fold.add_parts(out, (G.flatten(1) for G in products(call, a, delta, room)))

    def add_matrix(self, out: Tensor, G: Tensor) -> None:
        self.fold.add(out, (G @ self.filters.reshape(self.g, -1, self.i).transpose(-1, -2)).flatten(1))

    @staticmethod
    def kept(call: Call, k: int) -> int:
        g, o, i = matrix_operation(call).matrix_shape(call)
        return g * min(filter_count(call), i) * (call.size // (g * o))


class Convolved(MatrixMap):
    """TensorSketch: bucket h_o + h_i (mod k) and sign s_o·s_i for entry (o, i), summed in Fourier space."""

    def __init__(self, call: Call, seed: int, name: str, k: int, device: torch.device):
        super().__init__(call, seed, name, k, device)
        rng = generator(seed, "convolved", name)

        def hashed(size: int) -> tuple[Tensor, Tensor]:
            buckets = torch.from_numpy(rng.integers(0, k, size=size)).to(device)
            return buckets, torch.from_numpy(signs(rng, size)).to(device)

        self.rows, self.columns = hashed(self.o), hashed(self.i)

    def begin(self, call: Call) -> Tensor:
        return self._spectra(matrix_operation(call).patches(call), self.columns)

    def add_signal(self, out: Tensor, spectrum: Tensor, call: Call, a: Tensor, delta: Tensor, room: Room) -> None:
        signal = matrix_operation(call).signal(call, delta)
        spectrum += (self._spectra(signal, self.rows) * a).sum(1)

    def add_matrix(self, out: Tensor, G: Tensor) -> None:
        (h_o, s_o), (h_i, s_i) = self.rows, self.columns
        buckets, flips = (h_o[:, None] + h_i) % self.k, s_o[:, None] * s_i
        out.index_add_(1, buckets.flatten(), (G * flips).flatten(1))

    def _spectra(self, values: Tensor, hashed: tuple[Tensor, Tensor]) -> Tensor:
        """Fourier transform of the CountSketch of every position, (b, T, k/2 + 1); values (b, 1, size, T)."""
        buckets, flips = hashed
        v = values.squeeze(1).transpose(1, 2) * flips
        b, T, _ = v.shape
        sketched = v.new_zeros(b * T, self.k).index_add_(1, buckets, v.reshape(b * T, -1))
        return torch.fft.rfft(sketched).reshape(b, T, -1)

    @staticmethod
    def kept(call: Call, k: int) -> int:
        g, o, _ = matrix_operation(call).matrix_shape(call)
        return call.size // (g * o) * (k + 2)


def choose(calls: tuple[Call, ...], k: int, classes: int) -> type[MatrixMap] | None:
    """Pick the cheapest map for the weight of some calls by a cost model in nanoseconds of one CPU core; None: Fold."""
    if not calls or not all(isinstance(call.operation, MatrixOperation) for call in calls):
        return None
    shapes = {(type(call.operation), *matrix_operation(call).matrix_shape(call)) for call in calls}
    if len(shapes) > 1:
        return None
    _, g, o, i = shapes.pop()
    T = sum(call.size for call in calls) // (g * o)
    flop, touch, scatter, fourier = 0.03, 0.5, 1.5, 0.35 * k * math.log2(k)
    r = filter_count(calls[0])
    direct = g * (2 * T * o * i * flop + o * i * touch)
    projected = g * (2 * T * o * r * flop + o * r * touch + 2 * T * i * r * flop / classes)
    convolved = T * (scatter * o + fourier + 2 * k + (scatter * i + fourier) / classes) if g == 1 else math.inf
    otherwise = min(direct, convolved)
    if i > r and projected < otherwise / 2 and otherwise - projected > WORTH_IT:
        return Filtered
    if convolved < direct:
        return Convolved
    return Formed if all(matrix_operation(call).by_products(call) for call in calls) else None


def products(call: Call, a: Tensor, delta: Tensor, room: Room) -> Iterator[Tensor]:
    """Σ_positions δ ⊗ a by parts, (inputs, g, o, columns of a)."""
    signal, factor = matrix_operation(call).factors(call, delta, a.shape[2])
    for product in outers(signal, a, room):
        yield product if factor is None else product.mul_(factor)


def matrix_operation(call: Call) -> MatrixOperation:
    """The operation of a call whose weight is a matrix."""
    if not isinstance(call.operation, MatrixOperation):
        raise TypeError(f"the weight of {type(call.operation).__name__} is no matrix")
    return call.operation


def filter_count(call: Call) -> int:
    """Dimensions to which a call's inputs are projected."""
    kernel = call.leaves["weight"].shape[2:]
    if kernel.numel() == 1:
        return FILTERS
    geometry, _ = call.settings
    apart = all(step >= size for step, size in zip(geometry.stride, kernel, strict=True))
    return PATCH_FILTERS if apart else SPATIAL_FILTERS
