"""Dataset distillation on digits: what it costs, how far its loss falls, what is learnt from it, what it captures.

    python -m benchmarks.distill

Works in the cache folder, where the default run's network is used again. All ratios are measured in this one run.
"""

import time
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import torch
import torch.nn.functional as F

from dntk_core import Compute, RunSpec, load_or_build
from dntk_core.base.progress import ignore
from dntk_core.base.randomness import generator
from dntk_core.base.spec import DatasetSpec
from dntk_core.base.terminal import Bar
from dntk_core.cache.workbench import Workbench
from dntk_core.data.dataset import load_data
from dntk_core.dataset.judgement import judgement_table
from dntk_core.dataset.student import taught
from dntk_core.models.architectures import build_model
from dntk_core.models.artifact import load_network
from dntk_core.models.seen import tensor
from dntk_core.models.training import accuracy, batches, label_objective, train
from dntk_core.run.stages import distilled
from dntk_core.run.work import Work

CPU = torch.device("cpu")
SEEDS = range(3)
SPEC = replace(RunSpec.default(), dataset=DatasetSpec(method="wmdd"))


def distil(run, **settings) -> tuple[dict, float]:
    """Distil with the run's network, from nothing; returns what the stage writes, and the CPU seconds."""
    spec = replace(SPEC, dataset=replace(SPEC.dataset, **settings))
    with TemporaryDirectory() as folder:
        started = time.process_time()
        data, bench = load_data(spec.data), Workbench(Path(folder))
        contents, _ = distilled.build(Work(spec, data, run.artifacts, Compute("cpu"), ignore, bench))
        return contents, time.process_time() - started


def passes(run, images: torch.Tensor, count: int) -> float:
    """CPU seconds of plain forward and backward passes of the batch: cross-entropy, gradients of all weights."""
    network = load_network(SPEC, load_data(SPEC.data), run.artifacts["model"], Compute("cpu"))
    labels = torch.zeros(len(images), dtype=torch.long)
    started = time.process_time()
    for _ in range(count):
        network.zero_grad()
        F.cross_entropy(network(images), labels).backward()
    return time.process_time() - started


def cost(run) -> None:
    """The default distillation beside as many plain passes of the same batch, taken in turns."""
    data = load_data(SPEC.data)
    ratios, iterations = [], SPEC.dataset.iterations
    for _ in SEEDS:
        contents, ours = distil(run)
        plain = passes(run, tensor(data.normalise(contents["images"])), iterations)
        ratios.append(ours / plain)
        print(f"  {ours:5.1f} s of CPU, {iterations} plain passes {plain:5.1f} s, ratio {ratios[-1]:.2f}")
    print(f"cost of the default distillation: {np.median(ratios):.2f} plain forward and backward passes (at most 1.5)")


def fall(run) -> None:
    """How many times the synthesis loss falls from noise."""
    contents, _ = distil(run, start="noise")
    total = contents["losses"].mean(axis=1) @ [1.0, SPEC.dataset.bn_weight]
    fell = f"{total[0]:.1f} → {total[-1]:.2f}, {total[0] / total[-1]:.1f} times less"
    print(f"synthesis loss from noise: {fell} (10 at least)")


def learnt(run) -> None:
    """Test accuracy of networks trained on as many images: distilled, and random real ones, taught or by labels."""
    data = load_data(SPEC.data)
    test = tensor(data.normalise(data.test_inputs)), torch.from_numpy(data.test_labels)
    teacher = load_network(SPEC, data, run.artifacts["model"], Compute())
    found = {"distilled, taught": [], "random real, taught": [], "random real, hard labels": []}
    for seed in SEEDS:
        contents, _ = distil(run, seed=seed)
        per_class, C = SPEC.dataset.per_class, len(data.class_names)
        members = [
            generator(seed, "random real", c).permutation(np.flatnonzero(data.train_labels == c)) for c in range(C)
        ]
        drawn = np.concatenate([of_class[:per_class] for of_class in members])
        steps = SPEC.model.epochs * batches(len(data.train_labels), SPEC.model.batch)
        spec = replace(SPEC.model, seed=seed, epochs=steps // batches(len(drawn), SPEC.model.batch))
        real = data.train_inputs[drawn]
        learning = (
            (contents["images"], taught(teacher, tensor(contents["weights"]))),
            (real, taught(teacher, torch.ones(len(drawn)))),
            (real, label_objective(torch.from_numpy(data.train_labels[drawn]), CPU)),
        )
        for name, (images, objective) in zip(found, learning, strict=True):
            model = build_model(spec, data.channels, data.class_names)
            model = train(model, tensor(data.normalise(images)), objective, spec, ignore, CPU)
            found[name].append(accuracy(model, *test))
    for name, scores in found.items():
        print(f"{name:36} {np.mean(scores):.3f}  ({', '.join(f'{score:.3f}' for score in scores)})")


def main() -> None:
    """Print everything the distillation is judged by."""
    torch.set_num_threads(1)
    run = load_or_build(SPEC, Bar())
    cost(run)
    fall(run)
    learnt(run)
    print(judgement_table(run.judgements))


if __name__ == "__main__":
    main()
