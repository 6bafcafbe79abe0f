"""What the stages of a distilled run compute: real images chosen, images distilled, a student of them."""

from dataclasses import replace

import numpy as np
import torch
import torch.nn.functional as F
from safetensors.torch import save as save_tensors
from torch import Tensor

from dntk_core.base.compute import Compute
from dntk_core.base.device import resolve_device
from dntk_core.base.progress import Progress, Report, Steps
from dntk_core.base.randomness import generator
from dntk_core.base.spec import RunSpec
from dntk_core.cache.store import Artifact, Contents, Workbench
from dntk_core.data.dataset import load_data
from dntk_core.data.images import in_batches
from dntk_core.dataset.barycenter import BARYCENTERS, nearest_images
from dntk_core.dataset.classes import Classes
from dntk_core.dataset.selection import SELECTIONS
from dntk_core.dataset.soft_labels import TEMPERATURE, shares
from dntk_core.dataset.synthesis import Descent, Targets, synthesise
from dntk_core.models.architectures import build_model
from dntk_core.models.training import Seen, accuracy, batches, tensor, train_network

# Real images per class that the map of feature space shows.
SHOWN = 60


def build_choices_stage(spec: RunSpec, model: Artifact, compute: Compute, report: Report, bench: Workbench) -> Contents:
    """Choose real images by every selection, class by class: index and weights, (selections, m) each."""
    classes = Classes(spec, load_data(spec.data), model, compute)
    C, names = len(classes), list(SELECTIONS)
    shards = []
    for i, name in enumerate(names):
        for c in range(C):
            shards.append(bench.shard(f"{name}-{c}", lambda name=name, c=c: vars(classes.choose(name, c))))
            report(Progress("choices", i * C + c + 1, len(names) * C, f"{name}, class {classes.data.class_names[c]}"))
    contents = {
        part: np.stack([shard[part] for shard in shards]).reshape(len(names), -1) for part in ("index", "weights")
    }
    return contents, {"names": names}


def build_distilled_stage(
    spec: RunSpec, model: Artifact, choices: Artifact, compute: Compute, report: Report, bench: Workbench
) -> Contents:
    """Distil the training images, class by class, or take those of a selection.

    images (m, channels, height, width) in [0, 1], labels (m,), weights (m,) that sum to 1 in each class,
    soft_labels (m, C) raw logits, origin (m,) training index or -1, features (m, d) of the images, points (m, d) the
    barycenters they stand for, losses (iterations, C, 2), real_features (q, d) and real_labels (q,) of some real images
    """
    classes = Classes(spec, load_data(spec.data), model, compute)
    if spec.distill.method == "wmdd":
        contents, note = _synthesised(classes, report, bench)
    else:
        contents, note = _selected(classes, choices), {}
        report(Progress("distilled", 1, 1))
    features, logits = _encode(classes, tensor(classes.data.normalise(contents["images"])))
    real = np.concatenate([classes.members(c)[:SHOWN] for c in range(len(classes))])
    contents = {
        "features": features,
        "points": features,
        "soft_labels": logits,
        "labels": np.repeat(np.arange(len(classes)), spec.distill.per_class),
        "real_features": _encode(classes, classes.images(real))[0],
        "real_labels": classes.data.train_labels[real],
        "losses": np.empty((0, len(classes), 2)),
    } | contents
    return contents, note | {"batch_norm_layers": len(classes.encoder.channels)}


def _synthesised(classes: Classes, report: Report, bench: Workbench) -> Contents:
    """WMDD: barycenters per class, then images of as many classes at once as fit in memory."""
    spec, C = classes.spec.distill, len(classes)
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
    spec, device = classes.spec.distill, classes.device

    def of_group(name: str, join) -> Tensor:
        return torch.from_numpy(join([shard[name] for shard in known])).to(device)

    def told(step: int, losses: np.ndarray) -> None:
        feature, norm = losses.mean(axis=0)
        said = f"batch-norm loss {norm:.3g}" if classes.encoder.channels else "no batch-norm layers"
        done = len(classes) + group.start * spec.iterations + len(group) * step
        steps(done, f"feature loss {feature:.3g}, {said}")

    targets = Targets(*(of_group(name, np.stack) for name in ("points", "mean", "std")))
    start = of_group("start", np.concatenate)
    settings = {"bounds": _bounds(classes, device), "flip": classes.data.flip, "report": told}
    name = f"images-{group.start}-{group.stop}"
    return synthesise(classes.encoder, targets, start, spec, bench, name, **settings)


def _class_targets(classes: Classes, c: int) -> dict[str, np.ndarray]:
    """Barycenter, batch-norm statistics and start of one class."""
    spec, statistics = classes.spec.distill, classes.statistics(c)
    features = statistics.features.numpy()
    barycenter = BARYCENTERS[spec.weights](features, spec.per_class, generator(spec.seed, "barycenter", c))
    members = classes.members(c)
    if spec.start == "medoids":
        start = classes.images(members[nearest_images(features, barycenter.points)])[:]
    else:
        shape = (spec.per_class, *classes.data.train_images.shape[1:])
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


def _selected(classes: Classes, choices: Artifact) -> dict[str, np.ndarray]:
    """The real images of one selection."""
    place = choices.note["names"].index(classes.spec.distill.method)
    index = np.array(choices["index"][place])
    return {"images": classes.data.train_images[index], "weights": np.array(choices["weights"][place]), "origin": index}


def build_student_stage(
    spec: RunSpec, distilled: Artifact, compute: Compute, report: Report, bench: Workbench
) -> Contents:
    """Train a network on the distilled images alone, in as many steps as the one on real images took."""
    data = load_data(spec.data)
    model = build_model(spec.model.untrained, data.channels, data.class_names, compute.own_code)
    device = resolve_device(compute.device)
    x = tensor(data.normalise(distilled["images"]))
    epochs = spec.model.epochs * batches(len(data.train_labels)) // batches(len(x))
    wanted = tensor(shares(distilled["soft_labels"])).to(device)
    weights = tensor(np.array(distilled["weights"])).to(device)

    def told(event: Progress) -> None:
        report(replace(event, stage="student"))

    settings = replace(spec.model, epochs=epochs)
    model = train_network(model, x, soft_objective(wanted, weights), settings, told, device, bench).cpu()
    test = accuracy(model, Seen(data, data.test_images), torch.from_numpy(data.test_labels))
    return {"weights.safetensors": save_tensors(model.state_dict())}, {"test_accuracy": test}


def soft_objective(wanted: Tensor, weights: Tensor):
    """Weighted distance to shares p (m, C) of soft labels: Σ_i w_i T² CE(p_i, softmax(f_i/T)) / Σ_i w_i."""

    def objective(logits: Tensor, chosen: Tensor) -> Tensor:
        each = F.cross_entropy(logits / TEMPERATURE, wanted[chosen], reduction="none") * TEMPERATURE**2
        return (weights[chosen] * each).sum() / weights[chosen].sum()

    return objective


@torch.no_grad()
def _encode(classes: Classes, x: Tensor | Seen) -> tuple[np.ndarray, np.ndarray]:
    """Features (n, d) and logits (n, C) of normalised images."""
    parts = in_batches(x, np.arange(len(x)), classes.encoder.batch(classes.compute.memory))
    encodings = [classes.encoder(part.to(classes.device)) for part in parts]
    features, logits = (torch.cat([getattr(each, name) for each in encodings]) for name in ("features", "logits"))
    return features.cpu().numpy(), logits.cpu().numpy()


def _bounds(classes: Classes, device: torch.device) -> tuple[Tensor, Tensor]:
    """Black and white as the network sees them, (1, channels, 1, 1) each."""
    shape = (1, classes.data.channels, 1, 1)
    black, white = (classes.data.normalise(np.full(shape, value, np.float32)) for value in (0.0, 1.0))
    return torch.from_numpy(black).to(device), torch.from_numpy(white).to(device)
