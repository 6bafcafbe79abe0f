"""The network: trained on the images, or taken with the weights it has."""

from collections.abc import Callable

import numpy as np
import torch
from safetensors.torch import save as save_tensors

from dntk_core.base.device import resolve_device
from dntk_core.base.progress import Steps
from dntk_core.cache.artifact import Contents
from dntk_core.data.dataset import Dataset
from dntk_core.models.architectures import build_model
from dntk_core.models.training import Seen, accuracy, label_objective, train
from dntk_core.run.work import Work

# With this many training images, some are held out to tell the best epoch.
ENOUGH = 5000


def build(work: Work) -> Contents:
    """Train the network, or take its weights as they are: safetensors, and its accuracy in the note."""
    spec, data, device = work.spec.model, work.data, resolve_device(work.compute.device)
    model = build_model(spec, data.channels, data.class_names, work.compute.own_code)
    if not spec.weights:
        learnt, held_out = _held_out(len(data.train_labels))
        objective = label_objective(torch.from_numpy(data.train_labels[learnt]), device)
        judge = _judge(data, held_out) if len(held_out) else None
        images = Seen(data, data.train_images, learnt)
        model = train(model, images, objective, spec, work.report, device, work.bench, judge, data.flip)
    steps = Steps(work.report, "test accuracy", 0, len(data.test_labels))
    test = accuracy(model.to(device).eval(), Seen(data, data.test_images), torch.from_numpy(data.test_labels), steps)
    return {"weights.safetensors": save_tensors(model.cpu().state_dict())}, {"test_accuracy": test}


def _held_out(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Split n training images: all but every twentieth to learn from, if there are enough to spare some."""
    index = np.arange(n)
    spared = index % 20 == 19 if n >= ENOUGH else np.zeros(n, dtype=bool)
    return index[~spared], index[spared]


def _judge(data: Dataset, held_out: np.ndarray) -> Callable[[torch.nn.Module], float]:
    images, labels = Seen(data, data.train_images, held_out), torch.from_numpy(data.train_labels[held_out])
    return lambda model: accuracy(model, images, labels)
