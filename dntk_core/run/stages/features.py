"""Projected gradients of all inputs, and how far the projection can be trusted."""

import numpy as np
import torch
from torch.utils.flop_counter import FlopCounterMode

from dntk_core.base.compute import Compute
from dntk_core.base.device import resolve_device
from dntk_core.base.progress import Steps
from dntk_core.cache.artifact import Contents
from dntk_core.data.images import as_images
from dntk_core.gradients.extraction import project_images, share_images
from dntk_core.gradients.johnson_lindenstrauss import expected_error, relative_error
from dntk_core.gradients.network import Network
from dntk_core.gradients.preparation import prepare
from dntk_core.gradients.projections import Projector
from dntk_core.gradients.stream import exact_batch, exact_kernels, projector, stream
from dntk_core.kernels.class_kernels import kernels_from_features
from dntk_core.models.artifact import load_network
from dntk_core.models.training import Seen
from dntk_core.run.work import Sizes, Work

# Inputs on which the projection's error is measured against the exact kernel.
ERROR_INPUTS = 24
# Shards of features lie beside the artifact made of them until it is finished.
COPIES = 2


def build(work: Work) -> Contents:
    """Project the gradients of all inputs, shard by shard: features (C, m, k), test_features (C, t, k), outputs."""
    network, through, probe, parts = _prepared(work)
    train, test = (
        project_images(network, through, x, work.compute, work.bench, name, steps) for name, x, steps in parts
    )
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
        "projection_error": measure_error(network, through, probe, work.compute),
        "gradient_seconds": train.seconds + test.seconds,
    }
    return contents, note


def help(work: Work) -> None:
    """Project shards while another process builds the stage."""
    network, through, _, parts = _prepared(work)
    for name, x, steps in parts:
        share_images(network, through, x, work.compute, work.bench, name, steps)


def disk(sizes: Sizes) -> int:
    """Bytes of the features and of the shards they are made of."""
    return COPIES * 4 * sizes.C * (sizes.m + sizes.t) * sizes.k


def _prepared(work: Work) -> tuple[Network, Projector, torch.Tensor, tuple[tuple[str, Seen, Steps], ...]]:
    """The network and the projection, inputs to probe them with, and (shard name, inputs, progress) of both splits."""
    data, device = work.data, resolve_device(work.compute.device)
    inputs = work.made["inputs"]
    x = Seen(data, as_images(inputs["images"]))
    x_test = Seen(data, data.test_images, inputs["test_index"])
    probe = x[:: max(1, len(x) // ERROR_INPUTS)][:ERROR_INPUTS].to(device)
    network = prepare(load_network(work.spec, data, work.network, work.compute), probe, work.spec.outputs)
    total = len(x) + len(x_test)
    parts = (
        ("features", x, Steps(work.report, "features", 0, total)),
        ("test", x_test, Steps(work.report, "features", len(x), total)),
    )
    return network, projector(network, work.spec.projection, device), probe, parts


def measure_error(network: Network, through: Projector, x: torch.Tensor, compute: Compute) -> dict:
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
