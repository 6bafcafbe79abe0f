"""Projected gradients of many inputs, shard by shard, by one process or several at once."""

import time
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
import torch

from dntk_core.base.compute import Compute
from dntk_core.base.processes import rank, world_size
from dntk_core.base.progress import Steps
from dntk_core.cache.files import Stacked
from dntk_core.cache.workbench import Workbench
from dntk_core.gradients.network import Network
from dntk_core.gradients.stream import stream
from dntk_core.models.training import Seen

# Inputs per shard: what a killed run loses at most, whatever the batch.
SHARD = 50


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


def _project(network: Network, through, images: torch.Tensor, compute: Compute) -> dict[str, np.ndarray]:
    started = time.perf_counter()
    features, outputs = zip(*stream(network, through, images, compute), strict=True)
    return {
        "features": torch.cat(features, dim=1).numpy(),
        "outputs": torch.cat(outputs).numpy(),
        "seconds": np.array(time.perf_counter() - started),
    }
