"""What the stages of a distilled run compute: distilled images, a student of them, inputs."""

from dataclasses import replace

import numpy as np
import torch
import torch.nn.functional as F
from safetensors.torch import save as save_tensors
from torch import Tensor

from dntk_core.compute import Compute
from dntk_core.data import choose_inputs, load_data
from dntk_core.gradients import resolve_device
from dntk_core.models import accuracy, batches, build_model, fit
from dntk_core.progress import Progress, Report
from dntk_core.randomness import generator
from dntk_core.spec import RunSpec
from dntk_core.stages import Contents, tensor
from dntk_core.store import Artifact, Workbench
from dntk_core.wmdd.barycenter import BARYCENTERS, nearest_images
from dntk_core.wmdd.classes import Classes
from dntk_core.wmdd.synthesis import Targets, synthesise

# Real images per class that the map of feature space shows.
SHOWN = 60
# Soft labels are compared at this temperature: at 1 they are nearly one-hot and say little more than the class.
TEMPERATURE = 4.0


def build_distilled_stage(
    spec: RunSpec, model: Artifact, compute: Compute, report: Report, bench: Workbench
) -> Contents:
    """Distil the training images, class by class.

    images (m, channels, height, width) in [0, 1], labels (m,), weights (m,) that sum to 1 in each class,
    soft_labels (m, C) raw logits, origin (m,) training index or -1, features (m, d) of the images, points (m, d) the
    barycenters they stand for, losses (iterations, C, 2), real_features (q, d) and real_labels (q,) of some real images
    """
    classes = Classes(spec, load_data(spec.data), model, compute)
    build = _synthesised if spec.distill.method == "wmdd" else _selected
    contents, note = build(classes, report, bench)
    with torch.no_grad():
        x = tensor(classes.data.normalise(contents["images"]))
        encodings = [classes.encoder(part.to(classes.device)) for part in x.split(classes.encoder.batch(compute.memory))]
    features = torch.cat([each.features for each in encodings]).cpu().numpy()
    real = np.concatenate([classes.members(c)[:SHOWN] for c in range(len(classes))])
    contents = {
        "features": features,
        "points": features,
        "soft_labels": torch.cat([each.logits for each in encodings]).cpu().numpy(),
        "labels": np.repeat(np.arange(len(classes)), spec.distill.per_class),
        "real_features": _features(classes, real),
        "real_labels": classes.data.train_labels[real],
        "losses": np.empty((0, len(classes), 2)),
    } | contents
    return contents, note | {"batch_norm_layers": len(classes.encoder.channels)}


def _synthesised(classes: Classes, report: Report, bench: Workbench) -> Contents:
    """WMDD: barycenters per class, then images of as many classes at once as fit in memory."""
    spec, C, encoder, device = classes.spec.distill, len(classes), classes.encoder, classes.device
    known = []
    for c in range(C):
        known.append(bench.shard(f"class-{c}", lambda c=c: _class_targets(classes, c)))
        report(Progress("distilled", c + 1, C + C * spec.iterations, f"barycenter of class {classes.data.class_names[c]}"))
    together = max(1, encoder.batch(classes.compute.memory) // spec.per_class)
    images, losses = [], []
    for first in range(0, C, together):
        group = range(first, min(first + together, C))
        targets = Targets(
            *(torch.from_numpy(np.stack([known[c][name] for c in group])).to(device) for name in ("points", "mean", "std"))
        )

        def told(step: int, each: np.ndarray, first=first, group=group) -> None:
            feature, norm = each.mean(axis=0)
            done = C + first * spec.iterations + len(group) * step
            report(Progress("distilled", done, C + C * spec.iterations, f"feature {feature:.3g} · batch norm {norm:.3g}"))

        start = torch.from_numpy(np.concatenate([known[c]["start"] for c in group])).to(device)
        settings = {"bounds": _bounds(classes, device), "flip": classes.data.flip, "report": told}
        end = synthesise(encoder, targets, start, spec, bench, f"images-{group.start}-{group.stop}", **settings)
        images.append(end.images.cpu().numpy())
        losses.append(end.losses)
    contents = {
        "images": np.clip(classes.data.denormalise(np.concatenate(images)), 0.0, 1.0),
        "weights": np.concatenate([shard["weights"] for shard in known]),
        "points": np.concatenate([shard["points"] for shard in known]),
        "origin": np.full(C * spec.per_class, -1),
        "losses": np.concatenate(losses, axis=1),
    }
    return contents, {"w2": [float(shard["cost"]) for shard in known]}


def _class_targets(classes: Classes, c: int) -> dict[str, np.ndarray]:
    """Barycenter, batch-norm statistics and start of one class."""
    spec, statistics = classes.spec.distill, classes.statistics(c)
    features = statistics.features.numpy()
    barycenter = BARYCENTERS[spec.weights](features, spec.per_class, generator(spec.seed, "barycenter", c))
    members = classes.members(c)
    if spec.start == "medoids":
        start = classes.images(members[nearest_images(features, barycenter.points)])
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


def _selected(classes: Classes, report: Report, bench: Workbench) -> Contents:
    """Real images, chosen class by class."""
    name, C = classes.spec.distill.method, len(classes)
    chosen = []
    for c in range(C):
        chosen.append(bench.shard(f"class-{c}", lambda c=c: vars(classes.choose(name, c))))
        report(Progress("distilled", c + 1, C, f"class {classes.data.class_names[c]}"))
    index = np.concatenate([shard["index"] for shard in chosen])
    weights = np.concatenate([shard["weights"] for shard in chosen])
    return {"images": classes.data.train_images[index], "weights": weights, "origin": index}, {}


def build_student_stage(spec: RunSpec, distilled: Artifact, compute: Compute, report: Report) -> Contents:
    """Train a network on the distilled images alone, in as many steps as the one on real images took."""
    data = load_data(spec.data)
    model = build_model(spec.model, data.channels, len(data.class_names))
    device = resolve_device(compute.device)
    x = tensor(data.normalise(distilled["images"]))
    epochs = spec.model.epochs * batches(len(data.train_labels)) // batches(len(x))
    objective = soft_objective(tensor(distilled["soft_labels"]).to(device), tensor(distilled["weights"]).to(device))

    def told(event: Progress) -> None:
        report(replace(event, stage="student"))

    model = fit(model, x, objective, replace(spec.model, epochs=epochs), told, device).cpu()
    test = accuracy(model, tensor(data.normalise(data.test_images)), torch.from_numpy(data.test_labels))
    return {"weights.safetensors": save_tensors(model.state_dict())}, {"test_accuracy": test}


def soft_objective(soft_labels: Tensor, weights: Tensor):
    """Weighted distance to soft labels (m, C): Σ_i w_i T² CE(softmax(z_i/T), softmax(f_i/T)) / Σ_i w_i."""
    wanted = (soft_labels / TEMPERATURE).softmax(1)

    def objective(logits: Tensor, chosen: Tensor) -> Tensor:
        each = F.cross_entropy(logits / TEMPERATURE, wanted[chosen], reduction="none") * TEMPERATURE**2
        return (weights[chosen] * each).sum() / weights[chosen].sum()

    return objective


def build_distilled_inputs_stage(spec: RunSpec, distilled: Artifact, report: Report) -> Contents:
    """Take the distilled images as kernel inputs; test inputs as in any run."""
    data = load_data(spec.data)
    _, test = choose_inputs(data, spec.inputs)
    contents = {
        "kernel_index": np.array(distilled["origin"]),
        "test_index": test,
        "train_labels": np.array(distilled["labels"]),
        "test_labels": data.test_labels[test],
        "images": np.array(distilled["images"]),
    }
    report(Progress("inputs", 1, 1))
    return contents, {"class_names": list(data.class_names), "n": len(data.train_labels)}


def _features(classes: Classes, index: np.ndarray) -> np.ndarray:
    with torch.no_grad():
        parts = classes.images(index).split(classes.encoder.batch(classes.compute.memory))
        return torch.cat([classes.encoder(part.to(classes.device)).features for part in parts]).cpu().numpy()


def _bounds(classes: Classes, device: torch.device) -> tuple[Tensor, Tensor]:
    """Black and white as the network sees them, (1, channels, 1, 1) each."""
    shape = (1, classes.data.channels, 1, 1)
    black, white = (classes.data.normalise(np.full(shape, value, np.float32)) for value in (0.0, 1.0))
    return torch.from_numpy(black).to(device), torch.from_numpy(white).to(device)
