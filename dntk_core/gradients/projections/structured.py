"""The structured projection: gradients sketched layer by layer from (x, δ), never formed as a whole.

Every parameter's gradient is sketched into the same k buckets by one of three unbiased linear maps, whichever costs
least for the layer's shape. With G = Σ_positions δ ⊗ a (o × i) the gradient of a weight matrix:

    Direct      fold(G)                  signs, then every k-th coordinate summed
    Filtered    fold(G Fᵀ/√r)            a projected to r dimensions by random ±1 filters F first, once per input
    Convolved   Σ_positions sketch(δ) ∗ sketch(a)    TensorSketch: circular convolution, as a product in Fourier space

Signs, offsets, hashes and filters are keyed by (seed, parameter name): the same for every batch and device.
"""

import math
from abc import ABC, abstractmethod

import torch
from torch import Tensor

from dntk_core.base.errors import DNTKError
from dntk_core.base.randomness import generator, signs
from dntk_core.gradients.layers import input_side, matrix_rule_of, patch_numbers, per_sample_gradients
from dntk_core.gradients.network import Layer, Network
from dntk_core.gradients.rules import MatrixRule

# Dimensions to which wide inputs are projected, for spatial kernels and for all others. Each layer adds a relative
# variance of about 1/FILTERS of its own share of the kernel, which must stay well below the 1/k of the sketch itself.
# Pretrained MobileNets have single pointwise layers with 15 % of the kernel: with 128 their error was 1.16 times the
# expected one over five seeds, with 256 it is 0.96.
SPATIAL_FILTERS, FILTERS = 128, 256
# Projecting must halve a layer's cost and save this many nanoseconds per input and logit to be worth its variance.
WORTH_IT = 50_000


class Fold:
    """g(u)_j = Σ_{i ≡ j - offset (mod k)} ±u_i: one signed entry per coordinate, u (b, p)."""

    def __init__(self, seed: int, name: str, p: int, k: int, device: torch.device):
        rng = generator(seed, "fold", name)
        self.k = k
        self.offset = int(rng.integers(k))
        self.signs = torch.from_numpy(signs(rng, p)).to(device)

    def add(self, out: Tensor, u: Tensor) -> None:
        """Add g(u) to out, (b, k); u is overwritten, which spares a copy of every gradient."""
        v = u.mul_(self.signs)
        b, p = v.shape
        rows = p // self.k
        if rows:
            self._rotate(out, v[:, : rows * self.k].reshape(b, rows, self.k).sum(1))
        if p > rows * self.k:
            self._rotate(out, v[:, rows * self.k :])

    def _rotate(self, out: Tensor, v: Tensor) -> None:
        """Add v at the offset, wrapping round."""
        head = min(self.k - self.offset, v.shape[1])
        out[:, self.offset : self.offset + head] += v[:, :head]
        if head < v.shape[1]:
            out[:, : v.shape[1] - head] += v[:, head:]


class Direct:
    """Form the layer's gradients and fold each parameter's."""

    def __init__(self, layer: Layer, seed: int, k: int, device: torch.device):
        self.layer = layer
        sizes = dict(layer.module.named_parameters(recurse=False))
        self.folds = {attr: Fold(seed, name, sizes[attr].numel(), k, device) for attr, name in layer.parameters.items()}
        self.kept = self.kept_of(layer, k)

    @staticmethod
    def kept_of(layer: Layer, k: int) -> int:
        """Numbers of one input that are kept while all logits are taken."""
        return patch_numbers(layer.module, layer.shape)

    def begin(self, x: Tensor) -> Tensor:
        """Take the input side, the same for all logits."""
        return input_side(self.layer.module, x)

    def add(self, out: Tensor, spectrum: Tensor, side: Tensor, delta: Tensor) -> None:
        for attr, gradient in per_sample_gradients(self.layer.module, side, delta).items():
            self.folds[attr].add(out, gradient)


class MatrixSketch(ABC):
    """What Filtered and Convolved share: the rule, the signal δ, and the bias, which is folded."""

    def __init__(self, layer: Layer, seed: int, k: int, device: torch.device):
        self.module, self.rule, self.k = layer.module, _matrix_rule(layer), k
        self.g, self.o, self.i = self.rule.matrix_shape(layer.module)
        self.positions = math.prod(layer.shape) // (self.g * self.o)
        names = layer.parameters
        self.bias = Fold(seed, names["bias"], self.g * self.o, k, device) if "bias" in names else None

    def add(self, out: Tensor, spectrum: Tensor, state: Tensor, delta: Tensor) -> None:
        signal = self.rule.signal(self.module, delta)
        if self.bias is not None:
            self.bias.add(out, signal.sum(-1).flatten(1))
        self.add_weight(out, spectrum, state, signal)

    @abstractmethod
    def add_weight(self, out: Tensor, spectrum: Tensor, a: Tensor, signal: Tensor) -> None:
        """Add the sketch of the weight's gradient to `out`, or its Fourier transform to `spectrum`."""


class Filtered(MatrixSketch):
    """fold(Σ δ ⊗ F a/√r): the input side is projected once per input, for all logits."""

    def __init__(self, layer: Layer, seed: int, k: int, device: torch.device):
        super().__init__(layer, seed, k, device)
        name = layer.parameters["weight"]
        r = min(filter_count(layer), self.i)
        filters = signs(generator(seed, "filters", name), self.g * r, self.i) / math.sqrt(r)
        self.filters = torch.from_numpy(filters).to(device)
        self.fold = Fold(seed, name, self.g * self.o * r, k, device)
        self.kept = self.kept_of(layer, k)

    @staticmethod
    def kept_of(layer: Layer, k: int) -> int:
        """Numbers of one input that are kept while all logits are taken."""
        g, o, i = _matrix_rule(layer).matrix_shape(layer.module)
        return g * min(filter_count(layer), i) * (math.prod(layer.shape) // (g * o))

    def begin(self, x: Tensor) -> Tensor:
        return self.rule.projected(self.module, x, self.filters)

    def add_weight(self, out: Tensor, spectrum: Tensor, a: Tensor, signal: Tensor) -> None:
        self.fold.add(out, (signal @ a.transpose(-1, -2)).flatten(1))


class Convolved(MatrixSketch):
    """TensorSketch: bucket h_o + h_i (mod k) and sign s_o·s_i for entry (o, i), summed in Fourier space."""

    def __init__(self, layer: Layer, seed: int, k: int, device: torch.device):
        super().__init__(layer, seed, k, device)
        rng = generator(seed, "convolved", layer.parameters["weight"])

        def hashed(size: int) -> tuple[Tensor, Tensor]:
            buckets = torch.from_numpy(rng.integers(0, k, size=size)).to(device)
            return buckets, torch.from_numpy(signs(rng, size)).to(device)

        self.rows, self.columns = hashed(self.o), hashed(self.i)
        self.kept = self.kept_of(layer, k)

    @staticmethod
    def kept_of(layer: Layer, k: int) -> int:
        """Numbers of one input that are kept while all logits are taken."""
        g, o, _ = _matrix_rule(layer).matrix_shape(layer.module)
        return math.prod(layer.shape) // (g * o) * (k + 2)

    def begin(self, x: Tensor) -> Tensor:
        return self._spectra(self.rule.patches(self.module, x), self.columns)

    def add_weight(self, out: Tensor, spectrum: Tensor, a: Tensor, signal: Tensor) -> None:
        spectrum += (self._spectra(signal, self.rows) * a).sum(1)

    def _spectra(self, values: Tensor, hashed: tuple[Tensor, Tensor]) -> Tensor:
        """Fourier transform of the CountSketch of every position, (b, T, k/2 + 1); values (b, 1, size, T)."""
        buckets, flips = hashed
        v = values.squeeze(1).transpose(1, 2) * flips
        b, T, _ = v.shape
        sketched = v.new_zeros(b * T, self.k).index_add_(1, buckets, v.reshape(b * T, -1))
        return torch.fft.rfft(sketched).reshape(b, T, -1)


class Structured:
    """g(u) for u = all parameters: the sum of their sketches."""

    def __init__(self, network: Network, seed: int, k: int, device: torch.device):
        self.network, self.k = network, k
        self.sketches = [choose(layer, k, network.classes)(layer, seed, k, device) for layer in network.layers]
        self.rest = {name: Fold(seed, name, network.sizes[name], k, device) for name in network.rest}
        self.kept = sum(sketch.kept for sketch in self.sketches)

    def begin(self, inputs: tuple[Tensor, ...]) -> list[Tensor]:
        """Do once per batch what does not depend on the logit."""
        return [sketch.begin(x) for sketch, x in zip(self.sketches, inputs, strict=True)]

    def project(self, state: list[Tensor], signals: tuple[Tensor | None, ...], rest: dict[str, Tensor]) -> Tensor:
        """Sketch the gradients of one logit: (b, k)."""
        some = next(t for t in (*signals, *rest.values()) if t is not None)
        out = some.new_zeros(len(some), self.k)
        spectrum = torch.zeros(len(some), self.k // 2 + 1, dtype=torch.complex64, device=some.device)
        for sketch, side, delta in zip(self.sketches, state, signals, strict=True):
            if delta is not None:
                sketch.add(out, spectrum, side, delta)
        for name, gradient in rest.items():
            self.rest[name].add(out, gradient)
        return out + torch.fft.irfft(spectrum, n=self.k)


def structured_kept(network: Network, k: int) -> int:
    """Numbers of one input that a structured projection keeps while all logits are taken."""
    return sum(choose(layer, k, network.classes).kept_of(layer, k) for layer in network.layers)


def choose(layer: Layer, k: int, classes: int) -> type:
    """Pick the cheapest map for a layer's shape by a cost model in nanoseconds of one CPU core."""
    rule = matrix_rule_of(layer.module)
    if rule is None or "weight" not in layer.parameters:
        return Direct
    g, o, i = rule.matrix_shape(layer.module)
    T = math.prod(layer.shape) // (g * o)
    flop, touch, scatter, fourier = 0.03, 0.5, 1.5, 0.35 * k * math.log2(k)
    r = filter_count(layer)
    direct = g * (2 * T * o * i * flop + o * i * touch)
    projected = g * (2 * T * o * r * flop + o * r * touch + 2 * T * i * r * flop / classes)
    convolved = T * (scatter * o + fourier + 2 * k + (scatter * i + fourier) / classes) if g == 1 else math.inf
    otherwise = min(direct, convolved)
    if i > r and projected < otherwise / 2 and otherwise - projected > WORTH_IT:
        return Filtered
    return Convolved if convolved < direct else Direct


def _matrix_rule(layer: Layer) -> MatrixRule:
    """The rule of a layer that `choose` found to have a matrix."""
    if (rule := matrix_rule_of(layer.module)) is None:
        raise DNTKError(f"the weight of a {type(layer.module).__name__} is no matrix; sketch it with Direct")
    return rule


def filter_count(layer: Layer) -> int:
    """Dimensions to which a layer's inputs are projected."""
    return SPATIAL_FILTERS if layer.module.get_parameter("weight")[0, 0].numel() > 1 else FILTERS
