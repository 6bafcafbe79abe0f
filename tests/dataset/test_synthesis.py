"""Image synthesis: its loss against a naive one, its descent, its resumption, its errors."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from networks import Convolutions
from torch import nn

from dntk_core.base.errors import DNTKError
from dntk_core.base.randomness import generator
from dntk_core.base.spec import DatasetSpec
from dntk_core.cache.workbench import Workbench
from dntk_core.dataset.encoder import class_statistics, make_encoder
from dntk_core.dataset.synthesis import EVERY, Targets, class_losses, move, synthesise

G, J = 2, 3
SPEC = DatasetSpec(method="wmdd", per_class=J, iterations=3 * EVERY - 5, rate=0.05)


class Setting:
    """Two classes of noise images, barycenters taken from some of them."""

    def __init__(self, module, shape):
        torch.manual_seed(0)
        self.x = torch.randn(G, 12, *shape).clamp(-2, 2)
        self.encoder = make_encoder(module, self.x[0])
        statistics = [class_statistics(self.encoder, x, 2**30) for x in self.x]
        points = torch.stack([each.features[:J] for each in statistics]).float()
        self.targets = Targets(points, *(torch.stack([getattr(s, n) for s in statistics]) for n in ("mean", "std")))
        self.start = torch.randn(G * J, *shape).clamp(-2, 2)

    def synthesise(self, bench, spec=SPEC, report=lambda step, losses: None):
        bounds = torch.tensor(-2.0), torch.tensor(2.0)
        return synthesise(self.encoder, self.targets, self.start, spec, bench, "images", bounds, False, report)


@pytest.fixture
def setting():
    return Setting(Convolutions(), (2, 9, 9))


@pytest.fixture
def bench(tmp_path):
    return Workbench(tmp_path / "bench")


def inputs_of(parts, network, images):
    """What goes into each layer."""
    inputs = {}
    handles = [part.register_forward_pre_hook(lambda part, args: inputs.update({part: args[0]})) for part in parts]
    network(images)
    for handle in handles:
        handle.remove()
    return inputs


def test_losses_match_the_formula_class_by_class(setting):
    network, norms = (
        setting.encoder.module,
        [p for p in setting.encoder.module.modules() if isinstance(p, nn.BatchNorm2d)],
    )
    found = class_losses(setting.encoder, setting.encoder(setting.start), setting.targets)
    for g in range(G):
        inputs = inputs_of([*norms, network.head], network, setting.start[g * J : (g + 1) * J])
        feature = sum((inputs[network.head][j] - setting.targets.points[g, j]).norm() ** 2 for j in range(J)) / J
        means, stds = (t[g].split(setting.encoder.channels) for t in (setting.targets.mean, setting.targets.std))
        norm = 0
        for part, mean, std in zip(norms, means, stds, strict=True):
            y = inputs[part].transpose(0, 1).flatten(1)
            norm += (y.mean(1) - mean).norm() + ((y.var(1, correction=0) + part.eps).sqrt() - std).norm()
        torch.testing.assert_close(found[g], torch.stack((feature, norm / len(norms))))


def test_gradients_are_those_of_the_formula(setting):
    """The whole loss back to the images, with and without what the encoder puts into the network."""
    network, x = setting.encoder.module, setting.start.clone().requires_grad_(True)
    norms = [part for part in network.modules() if isinstance(part, nn.BatchNorm2d)]
    ours = class_losses(setting.encoder, setting.encoder(x), setting.targets).sum()
    inputs = inputs_of([*norms, network.head], network, x)
    theirs = (inputs[network.head].reshape(G, J, -1) - setting.targets.points).square().sum(2).mean(1).sum()
    means, stds = (each.split(setting.encoder.channels, dim=1) for each in (setting.targets.mean, setting.targets.std))
    for part, mean, std in zip(norms, means, stds, strict=True):
        y = inputs[part].reshape(G, J, *inputs[part].shape[1:]).transpose(1, 2).flatten(2)
        off = (y.mean(2) - mean).norm(dim=1) + ((y.var(2, correction=0) + part.eps).sqrt() - std).norm(dim=1)
        theirs = theirs + off.sum() / len(norms)
    torch.testing.assert_close(*(torch.autograd.grad(loss, x)[0] for loss in (ours, theirs)))


def test_half_precision_comes_to_about_the_same_loss(setting, bench, tmp_path):
    full = setting.synthesise(bench).losses
    half = setting.synthesise(Workbench(tmp_path / "half"), replace(SPEC, precision="bfloat16")).losses
    assert not np.array_equal(half, full)
    np.testing.assert_allclose(half[0].sum(1), full[0].sum(1), rtol=0.02)
    assert abs(half[-1].sum() - full[-1].sum()) < 0.01 * full[0].sum()


def test_the_loss_falls_and_images_stay_in_range(setting, bench):
    end = setting.synthesise(bench)
    total = end.losses.sum(axis=1) @ [1.0, SPEC.bn_weight]
    assert end.losses.shape == (SPEC.iterations, G, 2) and total[-1] < total[0] / 3
    assert end.images.min() >= -2 and end.images.max() <= 2


def test_adam_is_torchs(setting, bench):
    """The same descent by torch's own optimiser and schedule."""
    spec = replace(SPEC, iterations=20)
    x = setting.start.clone().requires_grad_(True)
    optimizer = torch.optim.Adam([x], lr=spec.rate, betas=(0.5, 0.9))
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, spec.iterations)
    for _ in range(spec.iterations):
        losses = class_losses(setting.encoder, setting.encoder(x), setting.targets).sum(0)
        optimizer.zero_grad()
        (losses[0] + spec.bn_weight * losses[1]).backward()
        optimizer.step()
        schedule.step()
        x.data.clamp_(-2, 2)
    torch.testing.assert_close(setting.synthesise(bench, spec).images, x.detach(), rtol=1e-3, atol=1e-3)


class Stop(Exception):
    pass


@pytest.mark.parametrize("when", [1, EVERY - 1, EVERY, EVERY + 7, 3 * EVERY - 5])
def test_stopped_anywhere_it_goes_on_to_the_same_images(setting, bench, tmp_path, when):
    def stop(step, losses):
        if step == when:
            raise Stop

    steps = []
    with pytest.raises(Stop):
        setting.synthesise(bench, report=stop)
    resumed = setting.synthesise(bench, report=lambda step, losses: steps.append(step))
    undisturbed = setting.synthesise(Workbench(tmp_path / "other"))
    assert torch.equal(resumed.images, undisturbed.images) and np.array_equal(resumed.losses, undisturbed.losses)
    assert steps[0] == (when - 1) // EVERY * EVERY + 1


def test_only_the_newest_checkpoint_is_kept(setting, bench):
    setting.synthesise(bench)
    assert [path.name for path in bench.folder.glob("*.json")] == [f"images-{SPEC.iterations}.json"]
    assert len(list(bench.folder.glob("*.npy"))) == 4


def test_a_damaged_checkpoint_is_not_used(setting, bench):
    wanted = setting.synthesise(bench).images
    (bench.folder / f"images-{SPEC.iterations}.images.npy").write_bytes(b"broken")
    assert torch.equal(setting.synthesise(bench).images, wanted)


def test_without_batch_norm_only_features_are_matched(bench):
    module = nn.Sequential(nn.Flatten(), nn.Linear(16, 8), nn.Tanh(), nn.Linear(8, 2))
    end = Setting(module, (1, 4, 4)).synthesise(bench)
    assert (end.losses[:, :, 1] == 0).all() and end.losses[-1, :, 0].sum() < end.losses[0, :, 0].sum() / 3


def test_a_loss_that_is_not_finite_is_an_error_and_checkpoints_stay(setting, bench):
    with torch.no_grad():
        setting.encoder.head.weight.fill_(1)
    steps = []

    def poison(step, losses):
        steps.append(step)
        if step == EVERY + 3:
            setting.targets.points.fill_(float("nan"))

    with pytest.raises(DNTKError, match=f"not finite at iteration {EVERY + 4}.*lower the rate"):
        setting.synthesise(bench, report=poison)
    assert bench.find(f"images-{EVERY}") is not None


def test_small_images_are_not_moved_and_digits_never_mirrored():
    x = torch.randn(2, 1, 8, 8)
    assert all(torch.equal(move(x, generator(0, i), flip=False), x) for i in range(20))
    large = torch.arange(32.0).expand(1, 1, 32, 32)
    moved = [move(large, generator(0, i), flip=False) for i in range(40)]
    # A ramp to the right still climbs everywhere but at the seam.
    assert all((torch.diff(y[0, 0, 0]) > 0).sum() >= 30 for y in moved)
    assert any((torch.diff(move(large, generator(0, i), flip=True)[0, 0, 0]) < 0).sum() >= 30 for i in range(40))


def test_large_images_are_cropped_to_their_own_size():
    x = torch.rand(2, 3, 64, 64)
    y = move(x, generator(0, "crop"), flip=False)
    assert y.shape == x.shape and not torch.allclose(y, x) and 0 <= y.min() <= y.max() <= 1
