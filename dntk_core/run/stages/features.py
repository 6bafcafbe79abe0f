"""Projected gradients of all inputs, and how far the projection can be trusted."""

from dataclasses import asdict

import numpy as np
import torch
from torch.utils.flop_counter import FlopCounterMode

from dntk_core.base.compute import Compute
from dntk_core.base.device import resolve_device
from dntk_core.base.progress import Steps
from dntk_core.base.spec import RunSpec
from dntk_core.cache.artifact import Contents
from dntk_core.cache.rows import widened
from dntk_core.data.batch import Batch, length, take, to
from dntk_core.data.inputs import opened
from dntk_core.gradients.extraction import narrowed, project_images, share_images
from dntk_core.gradients.hardware import device_of
from dntk_core.gradients.johnson_lindenstrauss import expected_error, relative_error
from dntk_core.gradients.network import Network
from dntk_core.gradients.preparation import prepare
from dntk_core.gradients.projections import Projector
from dntk_core.gradients.projections.grouped import Grouped
from dntk_core.gradients.sketch import Sketched, combinations, most_often, spread, sufficient_sketch
from dntk_core.gradients.stream import exact_batch, exact_kernels, projector, stream
from dntk_core.kernels.class_kernels import kernels_from_features
from dntk_core.models.artifact import load_network
from dntk_core.models.seen import Seen
from dntk_core.run.work import Work

# Inputs on which the projection's error is measured against the exact kernel.
ERROR_INPUTS = 24
# Gradients, inputs times classes, from which the error of sketched classes is foretold; of so few inputs at least.
PROBED_GRADIENTS, PROBED_LEAST = 4000, 4
# Inputs, evenly spread, whose largest outputs say which classes are met most often.
RANKED = 2000


def build(work: Work) -> Contents:
    """Project the gradients of all inputs, shard by shard: features (C, m, k), test_features (C, t, k), outputs."""
    network, through, probe, parts, sketched = _prepared(work)
    train, test = (
        project_images(network, through, x, work.compute, work.bench, name, steps, work.spec.kept)
        for name, x, steps in parts
    )
    contents = {
        "features": train.features,
        "outputs": train.outputs,
        "test_features": test.features,
        "test_outputs": test.outputs,
    }
    error = measure_error(network, through, probe, work.compute, work.spec.kept)
    # Gradients as they are have no error to expect.
    error |= {"expected": 0.0} if work.spec.projection.exact(network.P) else {}
    note = {
        "parameters": network.P,
        "k": through.k,
        "fast_parameters": network.P - sum(network.sizes[name] for name in network.rest),
        "general_path": list(network.rest),
        **({"taken": network.taken} if network.taken else {}),
        **({"groups": [asdict(each) for each in through.columns]} if isinstance(through, Grouped) else {}),
        "forward_flops": forward_flops(network, take(probe, slice(1))),
        "projection_error": error,
        "gradient_seconds": train.seconds + test.seconds,
        **sketched,
    }
    return contents, note


def help(work: Work) -> None:
    """Project shards while another process builds the stage."""
    network, through, _, parts, _ = _prepared(work)
    for name, x, steps in parts:
        share_images(network, through, x, work.compute, work.bench, name, steps, work.spec.kept)


def _prepared(work: Work) -> tuple[Network, Projector, Batch, tuple[tuple[str, Seen, Steps], ...], dict]:
    """The network and the projection, inputs to probe them with, and (shard name, inputs, progress) of both splits.

    Last comes the note on sketched classes, if they are.
    """
    data, device = work.data, resolve_device(work.compute.device)
    inputs = work.made["inputs"]
    x = Seen(data, opened(inputs, inputs.note))
    x_test = Seen(data, data.test_inputs, inputs["test_index"])
    probe = to(x[np.arange(0, len(x), max(1, len(x) // ERROR_INPUTS))[:ERROR_INPUTS]], device)
    module = work.given.network if work.given else load_network(work.spec, data, work.network, work.compute)
    network, sketched = prepare(module.to(device), probe, work.spec.outputs), {}
    if work.spec.sketch.used:
        network, sketched = sketch_classes(network, work.spec, probe, x, work.compute)
    total = len(x) + len(x_test)
    parts = (
        ("features", x, Steps(work.report, "features", 0, total)),
        ("test", x_test, Steps(work.report, "features", len(x), total)),
    )
    return network, projector(network, work.spec.projection, device), probe, parts, sketched


def sketch_classes(network: Network, spec: RunSpec, probe: Batch, x: Seen, compute: Compute) -> tuple[Network, dict]:
    """The same network with sums of its logits as outputs, and what the sums make of K̄ on a few inputs.

    The projection is the same for both, so that the error is that of the sums alone.
    x: all kernel inputs, some of which may say which classes are exact
    """
    C, wanted = network.classes, spec.sketch
    few = take(probe, slice(max(PROBED_LEAST, min(ERROR_INPUTS, PROBED_GRADIENTS // C))))
    through = projector(network, spec.projection, device_of(probe))
    every = np.concatenate([f.numpy() for f, _ in stream(network, through, few, compute)], axis=1)
    a = spread(every)
    q = wanted.q or sufficient_sketch(a, wanted.error, C)
    chosen, ranked = exact_classes(network, spec, x, device_of(probe)) if wanted.most_often else (wanted.chosen, {})
    sums = combinations(C, q, wanted.seed, chosen)
    exact = np.einsum("cik,cjk->ij", every, every, optimize=True) / C
    mixed = np.einsum("qc,cik->qik", sums[:q], every, optimize=True)
    measured = relative_error(np.einsum("qik,qjk->ij", mixed, mixed, optimize=True) / q, exact)
    measure = {"q": q, "expected": a / np.sqrt(q), "measured": measured, "inputs": length(few), "classes": C}
    measure |= {"exact": chosen, **ranked}
    module = Sketched(network.module, spec.outputs, sums).to(device_of(probe))
    return prepare(module, probe), {"class_sketch": measure}


def exact_classes(network: Network, spec: RunSpec, x: Seen, device: torch.device) -> tuple[tuple[int, ...], dict]:
    """The classes most often among the largest outputs of up to RANKED inputs; a note on how much of them they are."""
    index = np.unique(np.linspace(0, len(x) - 1, RANKED).astype(int))
    parts = np.array_split(index, max(1, len(index) // ERROR_INPUTS))
    with torch.no_grad():
        outputs = torch.cat([network(to(x[part], device)).float().cpu() for part in parts])
    chosen, places = most_often(outputs, spec.sketch.most_often)
    return chosen, {"places": places, "ranked": len(index)}


def measure_error(network: Network, through: Projector, x: Batch, compute: Compute, kept: str = "float32") -> dict:
    """Compare the projected with the exact class kernels of a few inputs, and with the error to expect.

    What is kept in fewer bits is compared with the same in float32, too.
    """
    exact = exact_kernels(network, x, exact_batch(network, compute)).numpy()
    features = np.concatenate([f.numpy() for f, _ in stream(network, through, x, compute)], axis=1)
    projected = kernels_from_features(features, features).train
    return {
        "inputs": length(x),
        "measured": float(np.mean([relative_error(K, E) for K, E in zip(projected, exact, strict=True)])),
        "measured_mean_kernel": relative_error(projected.mean(0), exact.mean(0)),
        "expected": float(np.mean([expected_error(E, through.k) for E in exact])),
        **({} if kept == "float32" else {"kept": _rounding(features, projected, kept)}),
    }


def _rounding(features: np.ndarray, projected: np.ndarray, kept: str) -> float:
    """Relative error of the mean kernel by features that are kept in fewer bits."""
    narrow = widened(narrowed(features, kept))
    return relative_error(kernels_from_features(narrow, narrow).train.mean(0), projected.mean(0))


def forward_flops(network: Network, x: Batch) -> int:
    """Floating point operations of one input's forward pass, multiplications and additions."""
    with FlopCounterMode(display=False) as counter, torch.no_grad():
        network(x)
    return counter.get_total_flops()
