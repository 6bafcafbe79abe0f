"""The network: trained on the data, or taken with the weights it has."""

from collections.abc import Callable

import numpy as np
import torch

from dntk_core.base.device import resolve_device
from dntk_core.base.progress import Progress
from dntk_core.cache.artifact import Contents
from dntk_core.data.dataset import Dataset
from dntk_core.models.architectures import build_model
from dntk_core.models.augmentation import augmentation
from dntk_core.models.own_code import sources
from dntk_core.models.seen import Seen, example
from dntk_core.models.training import accuracy, label_objective, save_weights, settled_threads, test_accuracy, train
from dntk_core.run.work import Work

# With this many training images, some are held out to tell the best epoch.
ENOUGH = 5000


def build(work: Work) -> Contents:
    """Train the network, or take its weights as they are: safetensors; of a trained one the note has its accuracy."""
    spec, data = work.spec.model, work.data
    if work.given:
        return {"weights.safetensors": save_weights(work.given.network)}, {}
    if "checkpoints" in work.made:
        kept = work.made["checkpoints"]
        work.report(Progress("model", 1, 1))
        note = {name: value for name, value in kept.note.items() if name in ("code", "threads")}
        return {"weights.safetensors": kept.read(checkpoint_name(spec.at))}, note
    if spec.weights:
        model = build_model(spec, data.channels, data.class_names, work.compute.own_code, example(data))
        return {"weights.safetensors": save_weights(model)}, _code(work, model)
    model, note = trained(work)
    return {"weights.safetensors": save_weights(model)}, note


def checkpoint_name(epoch: int) -> str:
    """The file of the weights after so many epochs."""
    return f"epoch-{epoch:03d}.safetensors"


def trained(
    work: Work, keep: Callable[[int, torch.nn.Module], None] = lambda done, model: None
) -> tuple[torch.nn.Module, dict]:
    """Train the network; the note has its accuracy. keep: called with epochs done and the network as it is then."""
    spec, data, device = work.spec.model, work.data, resolve_device(work.compute.device)
    model = build_model(spec, data.channels, data.class_names, work.compute.own_code, example(data))
    note = _code(work, model)
    learnt, held_out = _held_out(len(data.train_labels))
    objective = label_objective(torch.from_numpy(data.train_labels[learnt]), device)
    judge = _judge(data, held_out) if len(held_out) else None
    inputs, augment = Seen(data, data.train_inputs, learnt), augmentation(data, spec)

    def kept(done: int) -> None:
        keep(done, model)

    with settled_threads(spec, device) as threads:
        model = train(model, inputs, objective, spec, work.report, device, work.bench, judge, augment, kept)
    note |= threads
    note["test_accuracy"] = test_accuracy(model.to(device).eval(), data, work.report)
    return model, note


def _code(work: Work, model: torch.nn.Module) -> dict:
    spec = work.spec.model
    return {"code": sources(model, spec.name.partition(":")[0])} if spec.own else {}


def _held_out(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Split n training inputs: all but every twentieth to learn from, if there are enough to spare some."""
    index = np.arange(n)
    spared = index % 20 == 19 if n >= ENOUGH else np.zeros(n, dtype=bool)
    return index[~spared], index[spared]


def _judge(data: Dataset, held_out: np.ndarray) -> Callable[[torch.nn.Module], float]:
    inputs, labels = Seen(data, data.train_inputs, held_out), torch.from_numpy(data.train_labels[held_out])
    return lambda model: accuracy(model, inputs, labels)
