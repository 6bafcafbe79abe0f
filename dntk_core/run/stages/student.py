"""A network that has seen the distilled images alone, and what the network of real images says of them."""

from dataclasses import replace

import numpy as np
import torch

from dntk_core.base.device import resolve_device
from dntk_core.base.progress import Progress
from dntk_core.cache.artifact import Contents
from dntk_core.dataset.student import taught
from dntk_core.dataset.views import views
from dntk_core.gradients.hardware import laid_out
from dntk_core.models.architectures import rebuild_model
from dntk_core.models.artifact import load_network
from dntk_core.models.seen import Seen, example, tensor
from dntk_core.models.training import accuracy, batches, save_weights, settled_threads, train
from dntk_core.run.work import Work


def build(work: Work) -> Contents:
    """Train a network on views of the distilled images, in as many steps as the one on real images took."""
    spec, data, distilled = work.spec.model, work.data, work.made["distilled"]
    device = resolve_device(work.compute.device)
    x = tensor(data.normalise(distilled["images"]))
    epochs = spec.epochs * batches(len(data.train_labels), spec.batch) // batches(len(x), spec.batch)
    precision = work.spec.dataset.precision
    teacher = laid_out(load_network(work.spec, data, work.made["model"], work.compute).to(device).eval(), precision)
    objective = taught(teacher, tensor(np.array(distilled["weights"])).to(device))

    def report(event: Progress) -> None:
        work.report(replace(event, stage="student"))

    model = rebuild_model(spec, data.channels, data.class_names, work.compute.own_code, example(data))
    model = laid_out(model, precision)
    augment = None if spec.augment == "none" else views(x.shape[2], data.flip)
    with settled_threads(spec, device) as threads:
        longer = replace(spec, epochs=epochs)
        model = train(model, x, objective, longer, report, device, work.bench, augment=augment, precision=precision)
    test = accuracy(model, Seen(data, data.test_inputs), torch.from_numpy(data.test_labels))
    return {"weights.safetensors": save_weights(model)}, {"test_accuracy": test} | threads
