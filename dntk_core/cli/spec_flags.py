"""The flags that describe a run, and the spec they stand for."""

from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from operator import attrgetter
from pathlib import Path
from typing import Any

from dntk_core.base.compute import PRECISIONS
from dntk_core.base.errors import DNTKError
from dntk_core.base.spec import BASES, DATASET_METHODS, OUTPUTS, STARTS, WEIGHTS, RunSpec
from dntk_core.cli.flags import METAVARS


@dataclass(frozen=True)
class Flag:
    """names: the last are older ones; field: `part.name` in the spec, or `name` alone."""

    names: str
    field: str
    help: str
    choices: Sequence[str] | None = None

    @property
    def default(self) -> Any:
        """What the spec says without this flag."""
        return attrgetter(self.field)(RunSpec.default())

    @property
    def text(self) -> str:
        """What --help says: the meaning, the choices, the default."""
        choices = f": {', '.join(self.choices)}" if self.choices else ""
        default = f" ({self.default})" if self.default != "" else ""
        # argparse fills in a single %.
        return f"{self.help}{choices}{default}".replace("%", "%%")


GROUPS: dict[str, tuple[Flag, ...]] = {
    "data": (
        Flag("--data", "data.name", "the dataset: digits, folder, npz, or the name of a torchvision dataset"),
        Flag("--path", "data.path", "where the dataset's files lie: a folder, an .npz file, torchvision's downloads"),
        Flag("--image-size", "data.size", "side in pixels of the middle square that is taken; 0 is as usual"),
        Flag("--resize", "data.resize", "pixels the shorter side is brought to first; 0 is as usual"),
        Flag("--mean", "data.mean", "subtracted from each channel: numbers separated by commas; empty is as usual"),
        Flag("--std", "data.std", "each channel is divided by it: numbers separated by commas; empty is as usual"),
    ),
    "model": (
        Flag("--model", "model.name", "the network: small_resnet, a torchvision model, or package.module:factory"),
        Flag("--weights", "model.weights", "a weights file, or the name of published ones as DEFAULT; empty trains"),
        Flag("--classes", "model.classes", "the outputs that belong to the data's classes: numbers, commas between"),
        Flag("--epochs", "model.epochs", "passes over the training images; 0 leaves the weights as drawn"),
        Flag("--model-seed", "model.seed", "seed of the first weights and the order of training images"),
        Flag("--precision", "precision", "precision of the network's own products", PRECISIONS),
    ),
    "inputs": (
        Flag("--kernel-inputs", "inputs.kernel", "number of training images the kernels are computed on"),
        Flag("--test-inputs", "inputs.test", "number of test images the readouts are judged by"),
        Flag("--input-seed", "inputs.seed", "seed of the choice of these images"),
    ),
    "projection": (
        Flag("--projection", "projection.name", "how gradients are projected: structured, hadamard, sparse, identity…"),
        Flag("--k", "projection.k", "dimensions that gradients are projected to"),
        Flag("--projection-seed", "projection.seed", "seed of the random projection"),
        Flag("--outputs", "outputs", "what gradients are taken of", OUTPUTS),
    ),
    "dataset distillation": (
        Flag("--dataset-method --distill", "dataset.method", "how training images become few", DATASET_METHODS),
        Flag("--base", "dataset.base", "whether the network is trained on real or on distilled images", BASES),
        Flag("--per-class", "dataset.per_class", "distilled images of each class"),
        Flag("--iterations", "dataset.iterations", "steps of gradient descent on the images, for wmdd"),
        Flag("--rate", "dataset.rate", "learning rate of these steps, for wmdd"),
        Flag("--bn-weight", "dataset.bn_weight", "weight of the batch normalisation statistics' loss, for wmdd"),
        Flag("--barycenter-weights", "dataset.weights", "weights of a class's distilled images, for wmdd", WEIGHTS),
        Flag("--start", "dataset.start", "what the images start from, for wmdd", STARTS),
        Flag("--dataset-seed --distill-seed", "dataset.seed", "seed of dataset distillation"),
    ),
}
FLAGS = tuple(flag for group in GROUPS.values() for flag in group)


def add_spec(parser: ArgumentParser) -> None:
    """A spec file, and a flag for every field of it."""
    parser.add_argument("--spec", type=Path, metavar="FILE", help="a JSON file with the run's spec; flags override it")
    for title, flags in GROUPS.items():
        group = parser.add_argument_group(title)
        for flag in flags:
            kind = type(flag.default)
            group.add_argument(
                *flag.names.split(),
                dest=flag.field,
                type=kind,
                choices=flag.choices,
                metavar=METAVARS[kind],
                help=flag.text,
            )


def spec_of(arguments: Namespace) -> RunSpec:
    """The spec file or the default, with every given flag in its place."""
    spec = RunSpec.default()
    if arguments.spec is not None:
        try:
            spec = RunSpec.from_json(arguments.spec.read_text())
        except (OSError, UnicodeDecodeError) as error:
            raise DNTKError(f"the spec file {arguments.spec} cannot be read: {error}") from None
    parts = {field.name: getattr(spec, field.name) for field in fields(spec)}
    for flag in FLAGS:
        if (value := getattr(arguments, flag.field)) is not None:
            part, _, name = flag.field.partition(".")
            parts[part] = replace(parts[part], **{name: value}) if name else value
    return RunSpec(**parts)
