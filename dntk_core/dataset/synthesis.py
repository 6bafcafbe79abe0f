"""WMDD's images: descend from a start until features meet barycenters and statistics meet those of the class."""

from collections.abc import Callable
from dataclasses import dataclass
from math import cos, pi

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from dntk_core.base.errors import DNTKError
from dntk_core.base.randomness import generator
from dntk_core.base.spec import DatasetSpec
from dntk_core.cache.workbench import Checkpoints, Workbench
from dntk_core.dataset.encoder import Encoder, Encoding
from dntk_core.gradients.hardware import products_in

# Iterations between checkpoints: what a killed run loses at most.
EVERY = 25
# From this height on, images are cropped; smaller ones have no pixels to spare.
CROP_FROM = 64
BETAS = (0.5, 0.9)


@dataclass(frozen=True)
class Targets:
    """What the images of G classes are drawn towards, j images a class.

    points: (G, j, d) barycenters; mean, std: (G, all channels) of the inputs of all batch-norm calls
    """

    points: Tensor
    mean: Tensor
    std: Tensor


@dataclass(frozen=True)
class Descent:
    """Adam on images, after `step` iterations.

    images: (G·j, channels, height, width), normalised; first, second: its moments, same shape
    losses: (step, G, 2) feature and batch-norm loss of each class before every iteration
    """

    step: int
    images: Tensor
    first: Tensor
    second: Tensor
    losses: np.ndarray


def class_losses(encoder: Encoder, encoding: Encoding, targets: Targets) -> Tensor:
    """Return each class's two losses, (G, 2).

    feature:    (1/j) Σ_j ‖f_e(x̃_j) - b_j‖²
    batch norm: mean over layers of ‖μ - μ̂‖ + ‖σ - σ̂‖, statistics over the class's images and positions
    """
    G, j, _ = targets.points.shape
    feature = (encoding.features.float().reshape(G, j, -1) - targets.points).square().sum(2).mean(1)
    norm = torch.zeros_like(feature)
    means, stds = (each.split(encoder.channels, dim=1) for each in (targets.mean, targets.std))
    for moments, mean, std, eps in zip(encoding.moments, means, stds, encoder.floor, strict=True):
        between, own_mean = torch.var_mean(moments.mean.reshape(G, j, -1), dim=1, correction=0)
        own_std = (moments.variance.reshape(G, j, -1).mean(1) + between + eps).sqrt()
        norm = norm + (own_mean - mean).norm(dim=1) + (own_std - std).norm(dim=1)
    return torch.stack((feature, norm / max(len(encoder.channels), 1)), dim=1)


def descend(
    encoder: Encoder,
    targets: Targets,
    state: Descent,
    until: int,
    spec: DatasetSpec,
    bounds: tuple[Tensor, Tensor],
    flip: bool,
    report: Callable[[int, np.ndarray], None],
) -> Descent:
    """Iterate up to step `until`: Adam with a cosine rate, every image moved a little alike, then clamped.

    bounds: lowest and highest valid value, (1, channels, 1, 1) each; report: called with step and losses (G, 2)
    """
    x, first, second = state.images.clone(), state.first.clone(), state.second.clone()
    losses = list(state.losses)
    for step in range(state.step, until):
        x.requires_grad_(True)
        moved = move(x, generator(spec.seed, "move", step), flip)
        with products_in(spec.precision, x.device):
            encoding = encoder(moved)
        each = class_losses(encoder, encoding, targets)
        (gradient,) = torch.autograd.grad(each[:, 0].sum() + spec.bn_weight * each[:, 1].sum(), x)
        losses.append(_finite(each.detach().cpu().numpy(), step))
        with torch.no_grad():
            first.lerp_(gradient, 1 - BETAS[0])
            second.lerp_(gradient.square(), 1 - BETAS[1])
            scale = (second / (1 - BETAS[1] ** (step + 1))).sqrt_().add_(1e-8)
            rate = spec.rate * (1 + cos(pi * step / spec.iterations)) / 2
            x = x.addcdiv(first, scale, value=-rate / (1 - BETAS[0] ** (step + 1)))
            x = x.clamp(*bounds)
        report(step + 1, losses[-1])
    return Descent(until, x.detach(), first, second, np.stack(losses))


def synthesise(
    encoder: Encoder,
    targets: Targets,
    start: Tensor,
    spec: DatasetSpec,
    bench: Workbench,
    name: str,
    bounds: tuple[Tensor, Tensor],
    flip: bool,
    report: Callable[[int, np.ndarray], None],
) -> Descent:
    """Descend from `start` (G·j, …) to the last iteration, or from the newest checkpoint under `name`.

    bounds, flip, report: as for `descend`
    """
    state = Descent(0, start, torch.zeros_like(start), torch.zeros_like(start), np.empty((0, len(targets.points), 2)))
    steps = [*range(EVERY, spec.iterations, EVERY), spec.iterations]
    checkpoints = Checkpoints(bench, name)
    if (found := checkpoints.newest()) is not None:
        step, arrays = found
        state = _from_arrays(arrays, step, start.device)
    for step in steps:
        if step > state.step:
            state = descend(encoder, targets, state, step, spec, bounds, flip, report)
            checkpoints.keep(step, _to_arrays(state))
    return state


def move(x: Tensor, rng: np.random.Generator, flip: bool) -> Tensor:
    """Roll all images by a few pixels, mirror them where that keeps their class, crop large ones."""
    height, width = x.shape[2:]
    reach = height // 32
    x = torch.roll(x, tuple(rng.integers(-reach, reach + 1, size=2).tolist()), dims=(2, 3))
    if flip and rng.random() < 0.5:
        x = x.flip(3)
    if height >= CROP_FROM:
        share = rng.uniform(0.7, 1.0)
        h, w = int(share * height), int(share * width)
        top, left = rng.integers(height - h + 1), rng.integers(width - w + 1)
        x = F.interpolate(x[:, :, top : top + h, left : left + w], size=(height, width), mode="bilinear")
    return x


def _finite(losses: np.ndarray, step: int) -> np.ndarray:
    if not np.isfinite(losses).all():
        raise DNTKError(
            f"the synthesis loss is not finite at iteration {step + 1}; lower the rate or bn_weight, "
            "or check the network's weights (what is finished stays in the cache)"
        )
    return losses


def _to_arrays(state: Descent) -> dict[str, np.ndarray]:
    tensors = {"images": state.images, "first": state.first, "second": state.second}
    return {name: tensor.cpu().numpy() for name, tensor in tensors.items()} | {"losses": state.losses}


def _from_arrays(arrays: dict[str, np.ndarray], step: int, device: torch.device) -> Descent:
    tensors = {name: torch.from_numpy(np.array(arrays[name])).to(device) for name in ("images", "first", "second")}
    return Descent(step, **tensors, losses=np.array(arrays["losses"]))
