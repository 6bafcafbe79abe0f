"""A network that has seen the distilled images alone."""

from dataclasses import replace

import numpy as np
import torch
from safetensors.torch import save as save_tensors

from dntk_core.base.device import resolve_device
from dntk_core.base.progress import Progress
from dntk_core.cache.artifact import Contents
from dntk_core.dataset.soft_labels import shares
from dntk_core.dataset.student import soft_objective
from dntk_core.models.architectures import build_model
from dntk_core.models.training import Seen, accuracy, batches, tensor, train
from dntk_core.run.work import Work


def build(work: Work) -> Contents:
    """Train a network on the distilled images, in as many steps as the one on real images took."""
    spec, data, distilled = work.spec.model, work.data, work.made["distilled"]
    device = resolve_device(work.compute.device)
    x = tensor(data.normalise(distilled["images"]))
    epochs = spec.epochs * batches(len(data.train_labels)) // batches(len(x))
    wanted = tensor(shares(distilled["soft_labels"])).to(device)
    objective = soft_objective(wanted, tensor(np.array(distilled["weights"])).to(device))

    def report(event: Progress) -> None:
        work.report(replace(event, stage="student"))

    model = build_model(spec.untrained, data.channels, data.class_names, work.compute.own_code)
    model = train(model, x, objective, replace(spec, epochs=epochs), report, device, work.bench).cpu()
    test = accuracy(model, Seen(data, data.test_images), torch.from_numpy(data.test_labels))
    return {"weights.safetensors": save_tensors(model.state_dict())}, {"test_accuracy": test}
