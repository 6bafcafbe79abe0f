"""Runs that differ in one thing, for `benchmarks.ranks`: training, dataset distillation, resolution, parameters.

Each is a pair of the setting that it is compared with and the settings, all on 500 real inputs or a few distilled ones.
"""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import torch
from safetensors.torch import save_file
from torch import nn

from dntk_core.base.spec import DatasetSpec, DataSpec, InputSpec, ModelSpec, ProjectionSpec, RunSpec
from dntk_core.data.dataset import choose_inputs, load_data
from dntk_core.models.architectures import build_model

# Test inputs play no part in a rank.
TESTS = 10
# Without augmentation, so that training comes to interpolate.
SCRATCH = ModelSpec("resnet18", epochs=24, rate=0.05, augment="none", keep="0,1,4,24")

Factor = tuple[str, str, RunSpec]


def digit_runs() -> Iterator[Factor]:
    """Small runs that differ in one thing from the embedded one, or from 50 distilled images per class of it."""
    base = replace(RunSpec.default(), inputs=InputSpec(test=TESTS))
    for epochs in (0, 1, 3, 12, 40):
        yield "epochs", str(epochs), replace(base, model=replace(base.model, epochs=epochs))
    yield from distilled_runs(base, per_class=50, steps=(30, 100, 300, 1000, 2000))


def distilled_runs(base: RunSpec, per_class: int, steps: tuple[int, ...], usual: int = 300) -> Iterator[Factor]:
    """Dataset distillation in the place of real inputs: its steps, start, batch-norm weight, images per class."""
    wmdd = DatasetSpec("wmdd", per_class=per_class, iterations=usual)
    yield "steps of WMDD", "0, medoids", replace(base, dataset=replace(wmdd, method="k-means medoids"))
    *few, most = steps
    for count in few:
        yield "steps of WMDD", f"{count:,}", replace(base, dataset=replace(wmdd, iterations=count))
    yield "start of WMDD", "noise", replace(base, dataset=replace(wmdd, start="noise"))
    for weight in (0.0, 100.0):
        yield "batch-norm weight", f"{weight:g}", replace(base, dataset=replace(wmdd, bn_weight=weight))
    for count in (10, 20, 50):
        if count != per_class:
            yield "images per class", str(count), replace(base, dataset=replace(wmdd, per_class=count))
    # What takes longest comes last.
    yield "steps of WMDD", f"{most:,}", replace(base, dataset=replace(wmdd, iterations=most))


def image_runs(folder: Path, weights: Path, scratch: Path) -> Iterator[Factor]:
    """ResNet-18 on a folder of images at 128 px: resolution, parameters, statistics, training, few distilled images.

    scratch: where weights with other statistics are written
    """
    base = RunSpec(
        DataSpec("folder", str(folder), 128), ModelSpec("resnet18", str(weights)), inputs=InputSpec(500, TESTS)
    )

    def at(size: int, run: RunSpec = base) -> RunSpec:
        return replace(run, data=replace(run.data, size=size))

    for size in (32, 64, 96):
        yield "resolution", f"{size} px", at(size)
    for name, pattern in (("the last stage", r"^layer4|^fc"), ("the last layer", r"^fc")):
        yield "parameters", name, replace(base, projection=ProjectionSpec(parameters=pattern))
    following = replace(base.model, weights=str(with_statistics(base, scratch / "statistics.safetensors")))
    yield "batch norm", "statistics of the 500 inputs", replace(base, model=following)
    for epoch in SCRATCH.kept:
        yield "from scratch, 32 px", f"epoch {epoch}", at(32, replace(base, model=replace(SCRATCH, at=epoch)))
    yield from distilled_runs(at(64), per_class=10, steps=(30, 100, 300, 1000, 2000), usual=100)


@torch.no_grad()
def with_statistics(base: RunSpec, path: Path) -> Path:
    """Write a network's weights with the batch statistics of its kernel inputs, as in training, for running ones."""
    data = load_data(base.data)
    chosen, _ = choose_inputs(data, base.inputs)
    network = build_model(base.model, data.channels, data.class_names).train()
    for norm in network.modules():
        if isinstance(norm, nn.BatchNorm2d):
            norm.reset_running_stats()
            norm.momentum = 1.0
    network(torch.from_numpy(data.normalise(data.train_inputs[chosen])))
    save_file({name: value.contiguous() for name, value in network.state_dict().items()}, path)
    return path
