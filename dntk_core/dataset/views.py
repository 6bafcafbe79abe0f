"""What a student sees of distilled images: crops of many sizes, mirrored where that keeps the class."""

import torch
import torch.nn.functional as F
from torch import Tensor

from dntk_core.dataset.synthesis import CROP_FROM
from dntk_core.models.augmentation import Augmentation, shifted

# Share of an image's area that a crop has at least.
LEAST = 0.25


def views(height: int, flip: bool) -> Augmentation:
    """Crop large images; shift small ones, which have no pixels to spare."""
    if height < CROP_FROM:
        return shifted
    return lambda x, rng: cropped(x, rng, flip)


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
