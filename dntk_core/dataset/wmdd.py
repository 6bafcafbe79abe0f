"""WMDD: every class becomes a few images at the points of its Wasserstein barycenter in feature space."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from dntk_core.base.progress import Report, Steps
from dntk_core.base.randomness import generator
from dntk_core.cache.workbench import Workbench
from dntk_core.dataset.barycenter import BARYCENTERS, nearest_images
from dntk_core.dataset.classes import Classes
from dntk_core.dataset.synthesis import Descent, Targets, synthesise


def wmdd(classes: Classes, report: Report, bench: Workbench) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """Find barycenters per class, then images of as many classes at once as fit in memory.

    images (m, channels, height, width) in [0, 1], weights (m,), points (m, d), origin (m,) all -1, losses
    (iterations, C, 2); the note has each class's W2²
    """
    spec, C = classes.spec.dataset, len(classes)
    steps = Steps(report, "distilled", 0, C + C * spec.iterations)
    known = []
    for c in range(C):
        known.append(bench.shard(f"class-{c}", lambda c=c: _class_targets(classes, c)))
        steps(c + 1, f"barycenter of class {classes.data.class_names[c]}")
    together = max(1, classes.encoder.batch(classes.compute.memory) // spec.per_class)
    groups = [range(first, min(first + together, C)) for first in range(0, C, together)]
    ends = [_descend(classes, [known[c] for c in group], group, bench, steps) for group in groups]
    contents = {
        "images": classes.data.denormalise(np.concatenate([end.images.cpu().numpy() for end in ends])).clip(0.0, 1.0),
        "weights": np.concatenate([shard["weights"] for shard in known]),
        "points": np.concatenate([shard["points"] for shard in known]),
        "origin": np.full(C * spec.per_class, -1),
        "losses": np.concatenate([end.losses for end in ends], axis=1),
    }
    return contents, {"w2": [float(shard["cost"]) for shard in known]}


def _descend(classes: Classes, known: list[dict], group: range, bench: Workbench, steps: Steps) -> Descent:
    """Synthesise the images of a group of classes."""
    spec, device = classes.spec.dataset, classes.device

    def of_group(name: str, join: Callable[[Sequence[np.ndarray]], np.ndarray]) -> Tensor:
        return torch.from_numpy(join([shard[name] for shard in known])).to(device)

    def report(step: int, losses: np.ndarray) -> None:
        feature, norm = losses.mean(axis=0)
        norm_note = f"batch-norm loss {norm:.3g}" if classes.encoder.channels else "no batch-norm layers"
        done = len(classes) + group.start * spec.iterations + len(group) * step
        steps(done, f"feature loss {feature:.3g}, {norm_note}")

    targets = Targets(*(of_group(name, np.stack) for name in ("points", "mean", "std")))
    start = of_group("start", np.concatenate)
    bounds, name = _bounds(classes, device), f"images-{group.start}-{group.stop}"
    return synthesise(classes.encoder, targets, start, spec, bench, name, bounds, classes.data.flip, report)


def _class_targets(classes: Classes, c: int) -> dict[str, np.ndarray]:
    """Barycenter, batch-norm statistics and start of one class."""
    spec, statistics = classes.spec.dataset, classes.statistics(c)
    features = statistics.features.numpy()
    barycenter = BARYCENTERS[spec.weights](features, spec.per_class, generator(spec.seed, "barycenter", c))
    members = classes.members(c)
    if spec.start == "medoids":
        start = classes.images(members[nearest_images(features, barycenter.points)])[:]
    else:
        shape = (spec.per_class, *classes.data.image_shape)
        noise = generator(spec.seed, "noise", c).standard_normal(shape, dtype=np.float32)
        start = torch.from_numpy(noise).clamp(*_bounds(classes, torch.device("cpu")))
    return {
        "points": barycenter.points.astype(np.float32),
        "weights": barycenter.weights,
        "cost": np.array(barycenter.cost),
        "mean": statistics.mean.numpy(),
        "std": statistics.std.numpy(),
        "start": start.numpy(),
    }


def _bounds(classes: Classes, device: torch.device) -> tuple[Tensor, Tensor]:
    """Black and white as the network sees them, (1, channels, 1, 1) each."""
    shape = (1, classes.data.channels, 1, 1)
    black, white = (classes.data.normalise(np.full(shape, value, np.float32)) for value in (0.0, 1.0))
    return torch.from_numpy(black).to(device), torch.from_numpy(white).to(device)
