"""A classifier seen as f_e: its penultimate features, and what goes into its batch-norm layers."""

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.modules.batchnorm import _BatchNorm

from dntk_core.base.errors import DNTKError
from dntk_core.data.images import in_batches
from dntk_core.dataset.moments import Moments, frozen, moments_of
from dntk_core.models.seen import Seen

_MATRIX = (nn.Linear, nn.modules.conv._ConvNd)
# Back-propagation keeps a few copies of every activation.
_COPIES = 6


@dataclass(frozen=True)
class Encoding:
    """features: (b, d) what goes into the last layer; logits: (b, C); moments: one per batch-norm call."""

    features: Tensor
    logits: Tensor
    moments: tuple[Moments, ...]


@dataclass(frozen=True)
class Encoder:
    """A frozen network in eval mode.

    head: its last layer; norms: its batch-norm layers
    channels, floor: per batch-norm call, its channels and the ε it adds to variances
    image_bytes: what one image in a forward and backward pass takes
    """

    module: nn.Module
    head: nn.Module
    norms: tuple[_BatchNorm, ...]
    channels: tuple[int, ...]
    floor: tuple[float, ...]
    image_bytes: int

    def __call__(self, x: Tensor) -> Encoding:
        """Encode normalised images (b, channels, height, width)."""
        moments, features = [], []

        def note_norm(part: _BatchNorm, args: tuple[Tensor, ...], out: Tensor) -> Tensor:
            moments.append(moments_of(args[0]))
            return frozen(part, args[0], out)

        def note_head(part: nn.Module, args: tuple[Tensor, ...]) -> None:
            features.append(args[0].flatten(1))

        handles = [part.register_forward_hook(note_norm) for part in self.norms]
        handles.append(self.head.register_forward_pre_hook(note_head))
        try:
            logits = self.module(x)
        finally:
            for handle in handles:
                handle.remove()
        return Encoding(features[-1], logits, tuple(moments))

    def batch(self, memory: int) -> int:
        """How many images at once fit into `memory` bytes, 1 at least."""
        return max(1, memory // self.image_bytes)


def make_encoder(module: nn.Module, example: Tensor) -> Encoder:
    """Freeze a network and find its last layer and its batch-norm layers on an example batch."""
    module.eval().requires_grad_(False)
    called, numbers = [], []

    def note(part: nn.Module, args: tuple[Tensor, ...], y: Tensor) -> None:
        numbers.append(y.numel() if isinstance(y, Tensor) else 0)
        if isinstance(part, (*_MATRIX, _BatchNorm)):
            called.append(part)

    leaves = [part for part in module.modules() if not any(part.children())]
    handles = [part.register_forward_hook(note) for part in leaves]
    with torch.no_grad():
        module(example[:1])
    for handle in handles:
        handle.remove()
    layers = [part for part in called if isinstance(part, _MATRIX)]
    if not layers:
        raise DNTKError("the network has no linear or convolution layer to take features from; add one as its head")
    norms = [part for part in called if isinstance(part, _BatchNorm)]
    return Encoder(
        module,
        head=layers[-1],
        norms=tuple(dict.fromkeys(norms)),
        channels=tuple(part.num_features for part in norms),
        floor=tuple(part.eps for part in norms),
        image_bytes=4 * _COPIES * (sum(numbers) + example[0].numel()),
    )


@dataclass(frozen=True)
class ClassStatistics:
    """What one class looks like to the network.

    features: (n_c, d) float64
    mean, std: (all channels,) of every batch-norm call's input, over all images and positions, call after call
    """

    features: Tensor
    mean: Tensor
    std: Tensor


@torch.no_grad()
def class_statistics(encoder: Encoder, x: Tensor | Seen, memory: int) -> ClassStatistics:
    """Encode all images of a class, batch by batch, statistics as sums and sums of squares."""
    device = next(encoder.module.parameters()).device
    features = []
    sums, squares = torch.zeros(2, sum(encoder.channels), dtype=torch.float64)
    for part in in_batches(x, np.arange(len(x)), encoder.batch(memory)):
        encoding = encoder(part.to(device))
        features.append(encoding.features.double().cpu())
        mean, variance = (_joined(encoding.moments, name) for name in ("mean", "variance"))
        sums += mean.sum(0)
        squares += (variance + mean**2).sum(0)
    mean = sums / len(x)
    # Rounding may leave a constant channel slightly below zero.
    variance = (squares / len(x) - mean**2).clamp(min=0)
    floor = torch.from_numpy(np.repeat(encoder.floor, encoder.channels))
    return ClassStatistics(torch.cat(features), mean.float(), (variance + floor).sqrt().float())


def _joined(moments: tuple[Moments, ...], name: str) -> Tensor:
    """One kind of moment of all batch-norm calls side by side, (b, all channels), float64."""
    return torch.cat([getattr(each, name).double().cpu() for each in moments] or [torch.empty(0, 0)], dim=1)
