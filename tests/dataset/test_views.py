"""Views of distilled images."""

import torch

from dntk_core.dataset.views import LEAST, MIXED, cropped, mixed, views
from dntk_core.models.augmentation import shifted


def rng():
    return torch.Generator().manual_seed(0)


def test_a_crop_is_a_square_part_of_its_own_image_enlarged():
    """On a ramp along each axis a crop is a ramp, less steep by its side, within the image, mirrored or not."""
    line = torch.linspace(-1, 1, 64) * 63 / 64
    ramps = torch.stack(torch.meshgrid(line, line, indexing="ij"))
    for flip in (False, True):
        seen = cropped(ramps.repeat(200, 1, 1, 1), rng(), flip)
        assert seen.shape == (200, 2, 64, 64) and seen.abs().max() <= 1
        down, right = (seen[:, 0].diff(dim=1), seen[:, 1].diff(dim=2))
        step = (line[1] - line[0]).item()
        side, across = down[:, 30, 30] / step, right[:, 30, 30] / step
        torch.testing.assert_close(across.abs(), side, atol=1e-3, rtol=0)
        assert LEAST**0.5 - 1e-3 <= side.min() < 0.6 and 0.95 < side.max() <= 1 + 1e-3
        assert ((across < 0).float().mean() > 0.4) == flip


def test_a_mixed_view_is_one_image_with_a_square_of_another_at_its_own_place():
    place = torch.arange(32.0 * 32).reshape(1, 32, 32) / 4096
    seen = mixed(place + torch.arange(400.0).reshape(-1, 1, 1, 1), rng())
    torch.testing.assert_close(seen.frac(), place.expand_as(seen))
    pasted = seen.floor()[:, 0] != torch.arange(400.0).reshape(-1, 1, 1)
    assert all(len(image.floor().unique()) <= 2 for image in seen)
    for part in pasted[pasted.any(dim=(1, 2))]:
        rows, columns = part.any(dim=1), part.any(dim=0)
        assert torch.equal(part, rows[:, None] & columns) and abs(rows.sum() - columns.sum()) <= 1
    area = pasted.float().mean(dim=(1, 2))
    assert abs((area > 0).float().mean() - MIXED) < 0.1 and area.max() > 0.9 and abs(area[area > 0].mean() - 0.5) < 0.1


def test_small_images_are_shifted_alone():
    assert views(8, True) is shifted
    x = torch.randn(4, 3, 64, 64, generator=rng())
    assert views(64, True)(x, rng()).shape == x.shape
