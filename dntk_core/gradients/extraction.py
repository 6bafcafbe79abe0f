"""Projected gradients of many inputs, shard by shard, by one process or several at once."""

import time
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import torch

from dntk_core.base.compute import Compute
from dntk_core.base.errors import DNTKError
from dntk_core.base.processes import rank, world_size
from dntk_core.base.progress import Steps
from dntk_core.cache.rows import HALVES, open_rows
from dntk_core.cache.shards import Shard, Shards, shards_of
from dntk_core.cache.workbench import Workbench
from dntk_core.data.batch import Batch
from dntk_core.gradients.network import Network
from dntk_core.gradients.projections import Projector
from dntk_core.gradients.sketch import Sketched, answers
from dntk_core.gradients.stream import stream
from dntk_core.models.seen import Seen

# Inputs per shard: what a killed run loses at most, whatever the batch.
SHARD = 50


@dataclass(frozen=True)
class ProjectedImages:
    """Projected gradients (C, n, k) in shards and outputs (n, C) of n images, and the seconds they took."""

    features: Shards
    outputs: np.ndarray
    seconds: float


def project_images(
    network: Network,
    through: Projector,
    x: Seen,
    compute: Compute,
    bench: Workbench,
    name: str,
    steps: Steps,
    kept: str = "float32",
) -> ProjectedImages:
    """Project the gradients of images, shard by shard under `name`; kept: how their numbers are."""
    share_images(network, through, x, compute, bench, name, steps, kept)
    index = _shards(name, len(x))
    # All are there now; a damaged one is built again.
    shards = bench.collect(list(index), lambda shard: _project(network, through, x[index[shard]], compute, kept))
    return ProjectedImages(
        shards_of([shard["features"] for shard in shards]),
        np.concatenate([_whole(shard["outputs"]) for shard in shards]),
        float(sum(_whole(shard["seconds"]) for shard in shards)),
    )


def _whole(shard: Shard) -> np.ndarray:
    """Read a small array of a shard."""
    with shard.opened():
        return np.asarray(open_rows(shard.path))


def share_images(
    network: Network,
    through: Projector,
    x: Seen,
    compute: Compute,
    bench: Workbench,
    name: str,
    steps: Steps,
    kept: str = "float32",
) -> None:
    """Project shards of images together with all processes that do the same; each decodes its next shard meanwhile."""
    shards = _shards(name, len(x))
    order = list(shards)[rank() :: world_size()] if compute.shard == "static" else _own_first(list(shards))
    following = dict(pairwise(order))
    ahead: dict[str, Future[Batch]] = {}

    def build(shard: str) -> dict[str, np.ndarray]:
        images = ahead.pop(shard, None) or pool.submit(x.__getitem__, shards[shard])
        after = following.get(shard)
        ahead.clear()
        if after is not None and not bench.has(after):
            ahead[after] = pool.submit(x.__getitem__, shards[after])
        return _project(network, through, images.result(), compute, kept)

    bench.open()
    with ThreadPoolExecutor(1) as pool:
        static = compute.shard == "static"
        for _ in (
            bench.share_statically([*shards], build, rank(), world_size()) if static else bench.share(order, build)
        ):
            steps(sum(len(index) for shard, index in shards.items() if bench.has(shard)))
    steps(len(x))


def _shards(name: str, n: int) -> dict[str, np.ndarray]:
    """The shards of n images: their names, and the indices of their images."""
    return {f"{name}-{start}": np.arange(start, min(start + SHARD, n)) for start in range(0, n, SHARD)}


def _own_first(shards: list[str]) -> list[str]:
    """The order in which this process builds shards: its own share first, then those that others have left."""
    ranks = world_size()
    return [shard for r in range(ranks) for shard in shards[(rank() + r) % ranks :: ranks]]


def _project(network: Network, through: Projector, images: Batch, compute: Compute, kept: str) -> dict[str, np.ndarray]:
    started = time.perf_counter()
    features, outputs = zip(*stream(network, through, images, compute), strict=True)
    return {
        "features": narrowed(torch.cat(features, dim=1).numpy(), kept),
        "outputs": answers(network.module, images, len(features[0][0])).numpy()
        if isinstance(network.module, Sketched)
        else torch.cat(outputs).numpy(),
        "seconds": np.array(time.perf_counter() - started),
    }


def narrowed(features: np.ndarray, kept: str) -> np.ndarray:
    """Features as they are kept; refused where that is too narrow for them."""
    if kept == "bfloat16":
        found = torch.from_numpy(features).to(torch.bfloat16)
        finite, found = bool(found.isfinite().all()), found.view(torch.int16).numpy().view(HALVES)
    else:
        with np.errstate(over="ignore"):
            found = features.astype(kept, copy=False)
        finite = np.isfinite(found).all()
    if not finite:
        raise DNTKError(f"gradients of {np.abs(features).max():.3g} are too large for {kept}; keep them as float32")
    return found
