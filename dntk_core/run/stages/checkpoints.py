"""The network on its way: the weights that training had after some epochs, from initialisation on."""

from dataclasses import replace

import numpy as np
import torch

from dntk_core.base.errors import DNTKError
from dntk_core.cache.artifact import Contents
from dntk_core.models.training import save_weights
from dntk_core.run.stages.model import checkpoint_name, trained
from dntk_core.run.work import Work


def build(work: Work) -> Contents:
    """Train the network once and keep its weights after the epochs asked for, a file each, beside the last ones."""
    wanted, report = work.spec.model.kept, work.report
    named = replace(work, report=lambda event: report(replace(event, stage="checkpoints")))

    reached = 0

    def keep(done: int, model: torch.nn.Module) -> None:
        nonlocal reached
        reached = done
        if done in wanted:
            work.bench.shard(f"kept-{done}", lambda: {"weights": np.frombuffer(save_weights(model), np.uint8)})

    model, note = trained(named, keep)
    last = save_weights(model)
    # Training that ends early has no later weights than its last.
    files = {epoch: last if epoch > reached else _kept(work, epoch) for epoch in wanted}
    return {**{checkpoint_name(epoch): file for epoch, file in files.items()}, "weights.safetensors": last}, note


def _kept(work: Work, epoch: int) -> bytes:
    found = work.bench.find(f"kept-{epoch}")
    if found is None:
        raise DNTKError(f"the weights after epoch {epoch} were damaged on disk while training went on; start again")
    return found["weights"].tobytes()
