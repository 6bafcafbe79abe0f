"""What each stage of a run computes: model → inputs → features → kernels."""

import time
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import load as load_tensors
from safetensors.torch import save as save_tensors
from torch.utils.flop_counter import FlopCounterMode

from dntk_core.compute import Compute
from dntk_core.data import Dataset, check_distillable, choose_inputs, load_data
from dntk_core.estimate import check_size
from dntk_core.files import Stacked
from dntk_core.gradients import exact_batch, exact_kernels, projector, resolve_device, stream
from dntk_core.images import as_images, stored
from dntk_core.johnson_lindenstrauss import expected_error, relative_error
from dntk_core.kernels import kernels_by_size, kernels_from_features
from dntk_core.models import build_model
from dntk_core.network import Network, prepare
from dntk_core.progress import Progress, Report, Steps
from dntk_core.ranks import rank, world_size
from dntk_core.spec import RunSpec
from dntk_core.store import Artifact, Workbench
from dntk_core.training import Seen, accuracy, fit, label_objective

# Inputs per shard: what a killed run loses at most, whatever the batch.
SHARD = 50
# Inputs on which the projection's error is measured against the exact kernel.
PROBE = 24
# With this many training images, some are held out to tell the best epoch.
ENOUGH = 5000

Contents = tuple[dict, dict]


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
        model = fit(model, images, objective, spec.model, report, device, bench, judge, data.flip)
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


@dataclass(frozen=True)
class Projected:
    """Projected gradients (C, n, k) and outputs (n, C) of n images, and the seconds they took."""

    features: Stacked
    outputs: np.ndarray
    seconds: float


def project_images(
    network: Network, through, x: Seen, compute: Compute, bench: Workbench, name: str, steps: Steps
) -> Projected:
    """Project the gradients of images, shard by shard under `name`."""
    share_images(network, through, x, compute, bench, name, steps)
    shards = [
        bench.shard(
            f"{name}-{start}", lambda start=start: _project(network, through, x[start : start + SHARD], compute)
        )
        for start in range(0, len(x), SHARD)
    ]
    return Projected(
        Stacked([shard["features"] for shard in shards]),
        np.concatenate([shard["outputs"] for shard in shards]),
        float(sum(shard["seconds"] for shard in shards)),
    )


def share_images(
    network: Network, through, x: Seen, compute: Compute, bench: Workbench, name: str, steps: Steps
) -> None:
    """Project shards of images together with all processes at the same; each decodes its next shard meanwhile."""
    starts = range(0, len(x), SHARD)
    # Every rank begins with shards of its own, then goes through what others have left.
    order = [start for r in range(world_size()) for start in starts[(rank() + r) % world_size() :: world_size()]]
    names = {f"{name}-{start}": np.arange(start, min(start + SHARD, len(x))) for start in order}
    following = dict(zip(names, [*names][1:], strict=False))
    ahead: dict[str, Future] = {}

    def build(shard: str) -> dict[str, np.ndarray]:
        images = ahead.pop(shard, None) or pool.submit(x.__getitem__, names[shard])
        after = following.get(shard)
        ahead.clear()
        if after is not None and not bench.has(after):
            ahead[after] = pool.submit(x.__getitem__, names[after])
        return _project(network, through, images.result(), compute)

    bench.open()
    with ThreadPoolExecutor(1) as pool:
        for _ in bench.share(list(names), build):
            steps(sum(len(index) for shard, index in names.items() if bench.has(shard)))
    steps(len(x))


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


def load_network(spec: RunSpec, data: Dataset, model: Artifact, compute: Compute) -> torch.nn.Module:
    """Rebuild the network from its artifact."""
    network = build_model(spec.model.untrained, data.channels, data.class_names, compute.own_code)
    network.load_state_dict(load_tensors(model.read("weights.safetensors")))
    return network.to(resolve_device(compute.device)).eval()


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


def _project(network: Network, through, images: torch.Tensor, compute: Compute) -> dict[str, np.ndarray]:
    started = time.perf_counter()
    features, outputs = zip(*stream(network, through, images, compute), strict=True)
    return {
        "features": torch.cat(features, dim=1).numpy(),
        "outputs": torch.cat(outputs).numpy(),
        "seconds": np.array(time.perf_counter() - started),
    }


def _held_out(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Split n training images: all but every twentieth to learn from, if there are enough to spare some."""
    index = np.arange(n)
    spared = index % 20 == 19 if n >= ENOUGH else np.zeros(n, dtype=bool)
    return index[~spared], index[spared]


def _judge(data: Dataset, held_out: np.ndarray):
    images, labels = Seen(data, data.train_images, held_out), torch.from_numpy(data.train_labels[held_out])
    return lambda model: accuracy(model, images, labels)


def tensor(array: np.ndarray) -> torch.Tensor:
    """A float32 tensor of an array."""
    return torch.from_numpy(np.ascontiguousarray(array, dtype=np.float32))
