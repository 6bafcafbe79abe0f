"""What each stage of a run computes: model → inputs → features → kernels."""

import time
from dataclasses import dataclass

import numpy as np
import torch
from safetensors.torch import load as load_tensors
from safetensors.torch import save as save_tensors
from torch.utils.flop_counter import FlopCounterMode

from dntk_core.compute import Compute
from dntk_core.data import Dataset, check_distillable, choose_inputs, load_data
from dntk_core.errors import DNTKError
from dntk_core.gradients import exact_kernels, projected_dimension, projector, resolve_device, stream
from dntk_core.johnson_lindenstrauss import expected_error, relative_error
from dntk_core.kernels import kernels_from_features
from dntk_core.models import accuracy, build_model, train
from dntk_core.network import Network, prepare
from dntk_core.progress import Progress, Report, Steps
from dntk_core.spec import RunSpec
from dntk_core.store import Artifact, Workbench

# Inputs per shard: what a killed run loses at most, whatever the batch.
SHARD = 50
# Inputs on which the projection's error is measured against the exact kernel.
PROBE = 24
# Features beyond this size are refused.
LARGEST_FEATURES = 64 * 2**30

Contents = tuple[dict, dict]


def check(spec: RunSpec) -> None:
    """Refuse what cannot succeed before anything is computed or written."""
    data = load_data(spec.data)
    choose_inputs(data, spec.inputs)
    if spec.distilled:
        check_distillable(data, spec.distill.per_class)
    model = build_model(spec.model, data.channels, len(data.class_names))
    P = sum(p.numel() for p in model.parameters() if p.requires_grad)
    k = projected_dimension(spec.projection, P)
    size = 4 * len(data.class_names) * (spec.inputs.kernel + spec.inputs.test) * k
    if size > LARGEST_FEATURES:
        raise DNTKError(
            f"the projected gradients would take {size / 2**30:,.0f} GiB (at most {LARGEST_FEATURES / 2**30:.0f}); "
            "choose a smaller k, fewer inputs, or another projection"
        )


def build_model_stage(spec: RunSpec, compute: Compute, report: Report) -> Contents:
    """Train the network: its weights as safetensors, its accuracy in the note."""
    data = load_data(spec.data)
    model = build_model(spec.model, data.channels, len(data.class_names))
    images, labels = tensor(data.normalise(data.train_images)), torch.from_numpy(data.train_labels)
    model = train(model, images, labels, spec.model, report, resolve_device(compute.device)).cpu()
    test = accuracy(model, tensor(data.normalise(data.test_images)), torch.from_numpy(data.test_labels))
    return {"weights.safetensors": save_tensors(model.state_dict())}, {"test_accuracy": test}


def build_inputs_stage(spec: RunSpec, distilled: Artifact | None, report: Report) -> Contents:
    """Choose test inputs, and kernel inputs unless there are distilled ones: indices, labels, images in [0, 1]."""
    data = load_data(spec.data)
    kernel, test = choose_inputs(data, spec.inputs)
    contents = {
        "kernel_index": kernel if distilled is None else np.array(distilled["origin"]),
        "test_index": test,
        "train_labels": data.train_labels[kernel] if distilled is None else np.array(distilled["labels"]),
        "test_labels": data.test_labels[test],
        "images": data.train_images[kernel] if distilled is None else np.array(distilled["images"]),
    }
    report(Progress("inputs", 1, 1))
    return contents, {"class_names": list(data.class_names), "n": len(data.train_labels)}


def build_features_stage(
    spec: RunSpec, model: Artifact, inputs: Artifact, compute: Compute, report: Report, bench: Workbench
) -> Contents:
    """Project the gradients of all inputs, shard by shard: features (C, m, k), test_features (C, t, k), outputs."""
    data = load_data(spec.data)
    device = resolve_device(compute.device)
    network = load_network(spec, data, model, device)
    x = tensor(data.normalise(inputs["images"]))
    x_test = tensor(data.normalise(data.test_images[inputs["test_index"]]))
    network = prepare(network, x.to(device), spec.outputs)
    through = projector(network, spec.projection, device)

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
        "forward_flops": forward_flops(network, x[:1].to(device)),
        "projection_error": measure_error(network, through, x[:: max(1, len(x) // PROBE)][:PROBE].to(device)),
        "gradient_seconds": train.seconds + test.seconds,
    }
    return contents, note


@dataclass(frozen=True)
class Projected:
    """Projected gradients (C, n, k) and outputs (n, C) of n images, and the seconds they took."""

    features: np.ndarray
    outputs: np.ndarray
    seconds: float


def project_images(
    network: Network, through, x: torch.Tensor, compute: Compute, bench: Workbench, name: str, steps: Steps
) -> Projected:
    """Project the gradients of normalised images, shard by shard under `name`."""
    shards = []
    for start in range(0, len(x), SHARD):
        part = x[start : start + SHARD]
        shards.append(bench.shard(f"{name}-{start}", lambda part=part: _project(network, through, part, compute)))
        steps(start + len(part))
    return Projected(
        np.concatenate([shard["features"] for shard in shards], axis=1),
        np.concatenate([shard["outputs"] for shard in shards]),
        float(sum(shard["seconds"] for shard in shards)),
    )


def build_kernels_stage(features: Artifact, inputs: Artifact, report: Report) -> Contents:
    """Form the class kernels, and gather all that the live part needs beside them."""
    kernels = kernels_from_features(features["features"], features["test_features"])
    contents = {
        "train": kernels.train,
        "cross": kernels.cross,
        "targets": features["outputs"].astype(np.float64),
        "test_logits": features["test_outputs"].astype(np.float64),
        "train_labels": np.array(inputs["train_labels"]),
        "test_labels": np.array(inputs["test_labels"]),
    }
    report(Progress("kernels", 1, 1))
    return contents, {}


def load_network(spec: RunSpec, data: Dataset, model: Artifact, device: torch.device) -> torch.nn.Module:
    """Rebuild the trained network from its artifact."""
    network = build_model(spec.model, data.channels, len(data.class_names))
    network.load_state_dict(load_tensors(model.read("weights.safetensors")))
    return network.to(device).eval()


def measure_error(network: Network, through, x: torch.Tensor) -> dict:
    """Compare the projected with the exact class kernels of a few inputs, and with the error to expect."""
    exact = exact_kernels(network, x).numpy()
    features = np.concatenate(
        [f.numpy() for f, _ in stream(network, through, x, Compute(device=x.device.type))], axis=1
    )
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


def _project(network: Network, through, images: torch.Tensor, compute: Compute) -> dict[str, np.ndarray]:
    started = time.perf_counter()
    features, outputs = zip(*stream(network, through, images, compute), strict=True)
    return {
        "features": torch.cat(features, dim=1).numpy(),
        "outputs": torch.cat(outputs).numpy(),
        "seconds": np.array(time.perf_counter() - started),
    }


def tensor(array: np.ndarray) -> torch.Tensor:
    """A float32 tensor of an array."""
    return torch.from_numpy(np.ascontiguousarray(array, dtype=np.float32))
