"""The flags that describe a run, and the spec they stand for."""

from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from operator import attrgetter
from pathlib import Path
from typing import Any

from dntk_core.base.compute import PRECISIONS
from dntk_core.base.errors import DNTKError
from dntk_core.base.parts import HUGGING_FACE
from dntk_core.base.spec import AUGMENTATIONS, BASES, KEPT, KINDS, OUTPUTS, STARTS, WEIGHTS, RunSpec, dataset_methods
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
        Flag("--data", "data.name", "digits, folder, npz, hf, a dataset of torchvision, or package.module:factory"),
        Flag("--path", "data.path", "where the dataset's files lie: a folder, an .npz file, torchvision's downloads"),
        Flag("--image-size", "data.size", "side in pixels of the middle square that is taken; 0 is as usual"),
        Flag("--resize", "data.resize", "pixels the shorter side is brought to first; 0 is as usual"),
        Flag("--kind", "data.kind", "what the inputs are; empty is as the data say", KINDS),
        Flag("--vocabulary", "data.vocabulary", "a file with the words of token ids, one per line, shown on pages"),
        Flag("--mean", "data.mean", "subtracted from each channel: numbers separated by commas; empty is as usual"),
        Flag("--std", "data.std", "each channel is divided by it: numbers separated by commas; empty is as usual"),
    ),
    "model": (
        Flag(
            "--model",
            "model.name",
            "small_resnet, a torchvision model, timm:NAME, hf:FOLDER or package.module:factory",
        ),
        Flag("--weights", "model.weights", "a weights file, or the name of published ones as DEFAULT; empty trains"),
        Flag("--classes", "model.classes", "the outputs that belong to the data's classes: numbers, commas between"),
        Flag("--epochs", "model.epochs", "passes over the training inputs; 0 leaves the weights as drawn"),
        Flag("--learning-rate", "model.rate", "highest learning rate of training"),
        Flag("--batch-size", "model.batch", "inputs per step of training"),
        Flag("--weight-decay", "model.decay", "weight decay of training"),
        Flag("--augment", "model.augment", "what training does to images: shift and mirror as usual", AUGMENTATIONS),
        Flag("--model-seed", "model.seed", "seed of the first weights and the order of training inputs"),
        Flag("--precision", "precision", "precision of the network's own products", PRECISIONS),
    ),
    "inputs": (
        Flag("--kernel-inputs", "inputs.kernel", "number of training inputs the kernels are computed on"),
        Flag("--test-inputs", "inputs.test", "number of test inputs the readouts are judged by"),
        Flag("--input-seed", "inputs.seed", "seed of the choice of these inputs"),
    ),
    "projection": (
        Flag("--projection", "projection.name", "how gradients are projected: structured, hadamard, sparse, identity…"),
        Flag("--k", "projection.k", "dimensions that gradients are projected to; fewer parameters stay as they are"),
        Flag("--projection-seed", "projection.seed", "seed of the random projection"),
        Flag("--groups", "projection.groups", "keep groups of parameters apart: layers, blocks or regular expressions"),
        Flag("--parameters", "projection.parameters", "study only parameters whose name this regular expression finds"),
        Flag("--outputs", "outputs", "what gradients are taken of", OUTPUTS),
        Flag("--kept", "kept", "how numbers of projected gradients are kept on disk", KEPT),
        Flag("--class-sketch", "sketch.q", "random sums of the logits in the place of all classes; 0 is every class"),
        Flag("--class-error", "sketch.error", "error of the mean kernel from which their number is chosen"),
        Flag("--classes-exact", "sketch.exact", "classes with gradients of their own: 0,217 or top20, by frequency"),
        Flag("--sketch-seed", "sketch.seed", "seed of the random sums"),
    ),
    "dataset distillation": (
        Flag("--dataset-method --distill", "dataset.method", "how training images become few", dataset_methods()),
        Flag("--base", "dataset.base", "whether the network is trained on real or on distilled images", BASES),
        Flag("--per-class", "dataset.per_class", "distilled images of each class"),
        Flag("--iterations", "dataset.iterations", "steps of gradient descent on the images, for wmdd"),
        Flag("--rate", "dataset.rate", "learning rate of these steps, for wmdd"),
        Flag("--bn-weight", "dataset.bn_weight", "weight of wmdd's batch-norm loss; large images want 1,000"),
        Flag("--barycenter-weights", "dataset.weights", "weights of a class's distilled images, for wmdd", WEIGHTS),
        Flag("--start", "dataset.start", "what the images start from, for wmdd", STARTS),
        Flag("--dataset-precision", "dataset.precision", "precision of products in wmdd and on few images", PRECISIONS),
        Flag("--dataset-seed --distill-seed", "dataset.seed", "seed of dataset distillation"),
    ),
}
FLAGS = tuple(flag for group in GROUPS.values() for flag in group)
# What --help writes behind a flag whose text is no name.
TAKES = {
    "data.path": "PATH",
    "data.vocabulary": "FILE",
    "data.mean": "X,Y,Z",
    "data.std": "X,Y,Z",
    "model.weights": "FILE",
    "model.classes": "N,N,…",
    "projection.groups": "PATTERN",
    "projection.parameters": "PATTERN",
    "sketch.exact": "N,N,…",
}


def add_spec(parser: ArgumentParser, titles: Sequence[str] = tuple(GROUPS)) -> None:
    """A spec file, and a flag for every field of its groups with these titles."""
    parser.add_argument("--spec", type=Path, metavar="FILE", help="a JSON file with the run's spec; flags override it")
    for title in titles:
        group = parser.add_argument_group(title)
        for flag in GROUPS[title]:
            kind = type(flag.default)
            group.add_argument(
                *flag.names.split(),
                dest=flag.field,
                type=kind,
                choices=flag.choices,
                metavar=TAKES.get(flag.field, METAVARS[kind]),
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
        if (value := getattr(arguments, flag.field, None)) is not None:
            part, _, name = flag.field.partition(".")
            if flag.field == "model.name" and value.startswith(f"{HUGGING_FACE}:"):
                # The folder holds the weights, too.
                value, folder = HUGGING_FACE, value.removeprefix(f"{HUGGING_FACE}:")
                parts[part] = replace(parts[part], weights=folder)
            parts[part] = replace(parts[part], **{name: value}) if name else value
    return RunSpec(**parts)
