"""What each stage of a run computes: model → inputs → features → kernels."""

from pathlib import Path

import numpy as np
import torch
from safetensors.torch import save as save_tensors
from torch.utils.flop_counter import FlopCounterMode

from dntk_core.base.compute import Compute
from dntk_core.base.device import resolve_device
from dntk_core.base.progress import Progress, Report, Steps
from dntk_core.base.spec import RunSpec
from dntk_core.cache.store import Artifact, Contents, Workbench
from dntk_core.data.dataset import Dataset, check_distillable, choose_inputs, load_data
from dntk_core.data.images import as_images, stored
from dntk_core.gradients.extraction import project_images, share_images
from dntk_core.gradients.johnson_lindenstrauss import expected_error, relative_error
from dntk_core.gradients.network import Network, prepare
from dntk_core.gradients.stream import exact_batch, exact_kernels, projector, stream
from dntk_core.kernels.class_kernels import kernels_by_size, kernels_from_features
from dntk_core.models.architectures import build_model
from dntk_core.models.artifact import load_network
from dntk_core.models.training import Seen, accuracy, label_objective, train_network
from dntk_core.run.estimate import check_size

# Inputs on which the projection's error is measured against the exact kernel.
PROBE = 24
# With this many training images, some are held out to tell the best epoch.
ENOUGH = 5000


def check(spec: RunSpec, compute: Compute, root: Path) -> None:
    """Refuse what cannot succeed before anything is computed or written."""
    resolve_device(compute.device)
    data = load_data(spec.data)
    choose_inputs(data, spec.inputs)
    if spec.distilled:
        check_distillable(data, spec.distill.per_class)
    model = build_model(spec.model, data.channels, data.class_names, compute.own_code)
    check_size(spec, data, model, compute, root)


def build_model_stage(spec: RunSpec, compute: Compute, report: Report, bench: Workbench) -> Contents:
    """Train the network, or take its weights as they are: safetensors, and its accuracy in the note."""
    data, device = load_data(spec.data), resolve_device(compute.device)
    model = build_model(spec.model, data.channels, data.class_names, compute.own_code)
    if not spec.model.weights:
        learnt, held_out = _held_out(len(data.train_labels))
        objective = label_objective(torch.from_numpy(data.train_labels[learnt]), device)
        judge = _judge(data, held_out) if len(held_out) else None
        images = Seen(data, data.train_images, learnt)
        model = train_network(model, images, objective, spec.model, report, device, bench, judge, data.flip)
    steps = Steps(report, "test accuracy", 0, len(data.test_labels))
    test = accuracy(model.to(device).eval(), Seen(data, data.test_images), torch.from_numpy(data.test_labels), steps)
    return {"weights.safetensors": save_tensors(model.cpu().state_dict())}, {"test_accuracy": test}


def build_inputs_stage(spec: RunSpec, distilled: Artifact | None, report: Report) -> Contents:
    """Choose test inputs, and kernel inputs unless there are distilled ones: indices, labels, images in [0, 1]."""
    data = load_data(spec.data)
    kernel, test = choose_inputs(data, spec.inputs)
    contents = {
        "kernel_index": kernel if distilled is None else np.array(distilled["origin"]),
        "test_index": test,
        "train_labels": data.train_labels[kernel] if distilled is None else np.array(distilled["labels"]),
        "test_labels": data.test_labels[test],
        "images": stored(data.train_images, kernel) if distilled is None else np.array(distilled["images"]),
    }
    report(Progress("inputs", 1, 1))
    note = {"class_names": list(data.class_names), "n": len(data.train_labels), "skipped": list(data.skipped)}
    return contents, note


def build_features_stage(
    spec: RunSpec, model: Artifact, inputs: Artifact, compute: Compute, report: Report, bench: Workbench
) -> Contents:
    """Project the gradients of all inputs, shard by shard: features (C, m, k), test_features (C, t, k), outputs."""
    network, through, probe, x, x_test = _feature_work(spec, model, inputs, compute)
    total = len(x) + len(x_test)
    train = project_images(network, through, x, compute, bench, "features", Steps(report, "features", 0, total))
    test = project_images(network, through, x_test, compute, bench, "test", Steps(report, "features", len(x), total))
    contents = {
        "features": train.features,
        "outputs": train.outputs,
        "test_features": test.features,
        "test_outputs": test.outputs,
    }
    note = {
        "parameters": network.P,
        "k": through.k,
        "fast_parameters": network.P - sum(network.sizes[name] for name in network.rest),
        "general_path": list(network.rest),
        "forward_flops": forward_flops(network, probe[:1]),
        "projection_error": measure_error(network, through, probe, compute),
        "gradient_seconds": train.seconds + test.seconds,
    }
    return contents, note


def help_features_stage(
    spec: RunSpec, model: Artifact, inputs: Artifact, compute: Compute, report: Report, bench: Workbench
) -> None:
    """Project shards of a features stage that another process builds."""
    network, through, _, x, x_test = _feature_work(spec, model, inputs, compute)
    total = len(x) + len(x_test)
    share_images(network, through, x, compute, bench, "features", Steps(report, "features", 0, total))
    share_images(network, through, x_test, compute, bench, "test", Steps(report, "features", len(x), total))


def _feature_work(spec: RunSpec, model: Artifact, inputs: Artifact, compute: Compute) -> tuple:
    """The network and the projection, inputs to probe them with, kernel inputs, test inputs."""
    data, device = load_data(spec.data), resolve_device(compute.device)
    x = Seen(data, as_images(inputs["images"]))
    x_test = Seen(data, data.test_images, inputs["test_index"])
    probe = x[:: max(1, len(x) // PROBE)][:PROBE].to(device)
    network = prepare(load_network(spec, data, model, compute), probe, spec.outputs)
    return network, projector(network, spec.projection, device), probe, x, x_test


def build_kernels_stage(features: Artifact, inputs: Artifact, report: Report) -> Contents:
    """Form the class kernels, and gather all that the live part needs beside them."""
    kernels = kernels_by_size(features["features"], features["test_features"])
    contents = {"train": kernels.train, "cross": kernels.cross} if kernels.dense else {}
    contents |= {
        "targets": features["outputs"].astype(np.float64),
        "test_logits": features["test_outputs"].astype(np.float64),
        "train_labels": np.array(inputs["train_labels"]),
        "test_labels": np.array(inputs["test_labels"]),
    }
    report(Progress("kernels", 1, 1))
    return contents, {"dense": kernels.dense}


def measure_error(network: Network, through, x: torch.Tensor, compute: Compute) -> dict:
    """Compare the projected with the exact class kernels of a few inputs, and with the error to expect."""
    exact = exact_kernels(network, x, exact_batch(network, compute)).numpy()
    features = np.concatenate([f.numpy() for f, _ in stream(network, through, x, compute)], axis=1)
    projected = kernels_from_features(features, features).train
    return {
        "inputs": len(x),
        "measured": float(np.mean([relative_error(K, E) for K, E in zip(projected, exact, strict=True)])),
        "measured_mean_kernel": relative_error(projected.mean(0), exact.mean(0)),
        "expected": float(np.mean([expected_error(E, through.k) for E in exact])),
    }


def forward_flops(network: Network, x: torch.Tensor) -> int:
    """Floating point operations of one input's forward pass, multiplications and additions."""
    with FlopCounterMode(display=False) as counter, torch.no_grad():
        network(x)
    return counter.get_total_flops()


def _held_out(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Split n training images: all but every twentieth to learn from, if there are enough to spare some."""
    index = np.arange(n)
    spared = index % 20 == 19 if n >= ENOUGH else np.zeros(n, dtype=bool)
    return index[~spared], index[spared]


def _judge(data: Dataset, held_out: np.ndarray):
    images, labels = Seen(data, data.train_images, held_out), torch.from_numpy(data.train_labels[held_out])
    return lambda model: accuracy(model, images, labels)
