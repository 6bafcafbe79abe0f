"""What a student sees of distilled images: crops of many sizes, mirrored where that keeps the class, and mixed."""

import torch
import torch.nn.functional as F
from torch import Tensor

from dntk_core.dataset.synthesis import CROP_FROM
from dntk_core.models.augmentation import Augmentation, shifted

# Share of an image's area that a crop has at least.
LEAST = 0.25
# Share of the views that hold a part of another one: they keep long training from learning few images by heart.
MIXED = 0.5


def views(height: int, flip: bool) -> Augmentation:
    """Crop large images and mix them; shift small ones, which have no pixels to spare."""
    if height < CROP_FROM:
        return shifted
    return lambda x, rng: mixed(cropped(x, rng, flip), rng)


def cropped(x: Tensor, rng: torch.Generator, flip: bool) -> Tensor:
    """Enlarge a square of every image, LEAST of its area up to all, to the whole; with `flip` mirror half of them.

    x: (b, channels, height, width)
    """
    side = (LEAST + (1 - LEAST) * torch.rand(len(x), generator=rng)).sqrt()
    right, down = (1 - side) * (2 * torch.rand(2, len(x), generator=rng) - 1)
    mirror = 1 - 2 * (torch.rand(len(x), generator=rng) < 0.5).float() * flip
    zero = torch.zeros(len(x))
    moved = torch.stack((side * mirror, zero, right, zero, side, down), dim=1).reshape(-1, 2, 3)
    places = F.affine_grid(moved, list(x.shape), align_corners=False)
    return F.grid_sample(x, places, padding_mode="border", align_corners=False)


def mixed(x: Tensor, rng: torch.Generator) -> Tensor:
    """Cut-mix: paste a square of another image of the batch, of any area, into a MIXED share of them, at its own place.

    x: (b, channels, height, width)
    """
    b, _, height, width = x.shape
    side = torch.rand(b, generator=rng).sqrt() * (torch.rand(b, generator=rng) < MIXED)
    corners = (1 - side) * torch.rand(2, b, generator=rng)
    rows, columns = (_within(length, corner, side) for length, corner in zip((height, width), corners, strict=True))
    return torch.where(rows[:, None, :, None] & columns[:, None, None, :], x[torch.randperm(b, generator=rng)], x)


def _within(length: int, start: Tensor, share: Tensor) -> Tensor:
    """Which of `length` pixels lie within a share of them, from start (b,) on: (b, length)."""
    middle = (torch.arange(length) + 0.5) / length - start[:, None]
    return (middle >= 0) & (middle < share[:, None])
