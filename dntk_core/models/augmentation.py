"""What training does to a batch first: images are shifted and perhaps mirrored, other inputs stay as they are."""

from collections.abc import Callable

import torch
from torch import Tensor

from dntk_core.base.spec import ModelSpec
from dntk_core.data.dataset import Dataset
from dntk_core.data.inputs import IMAGE

Augmentation = Callable[[Tensor, torch.Generator], Tensor]


def augmentation(data: Dataset, spec: ModelSpec) -> Augmentation | None:
    """What is done to a dataset's inputs: images alone are moved, unless the spec says no."""
    if data.kind != IMAGE or spec.augment == "none":
        return None
    return mirrored if data.flip else shifted


def shifted(x: Tensor, rng: torch.Generator) -> Tensor:
    """Roll a batch of images by up to a sixteenth of their width along each axis."""
    reach = max(1, x.shape[-1] // 16)
    dy, dx = torch.randint(-reach, reach + 1, (2,), generator=rng).tolist()
    return torch.roll(x, (dy, dx), dims=(2, 3))


def mirrored(x: Tensor, rng: torch.Generator) -> Tensor:
    """Shift a batch of images, and mirror half of it."""
    x = shifted(x, rng)
    turned = torch.rand(len(x), generator=rng) < 0.5
    return torch.where(turned[:, None, None, None], x.flip(3), x)
