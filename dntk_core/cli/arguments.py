"""The command line's flags, and the specs they stand for."""

import argparse
from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path

from dntk_core.base.compute import PRECISIONS, Compute
from dntk_core.base.errors import DNTKError
from dntk_core.base.spec import OUTPUTS, DatasetSpec, DataSpec, InputSpec, ModelSpec, RunSpec
from dntk_core.distill import GAP_RULES, METHODS

# Flag → (part of the spec, field).
SPEC_FLAGS = {
    "data": ("data", "name"),
    "path": ("data", "path"),
    "image-size": ("data", "size"),
    "resize": ("data", "resize"),
    "mean": ("data", "mean"),
    "std": ("data", "std"),
    "model": ("model", "name"),
    "weights": ("model", "weights"),
    "classes": ("model", "classes"),
    "epochs": ("model", "epochs"),
    "model-seed": ("model", "seed"),
    "distill": ("dataset", "method"),
    "base": ("dataset", "base"),
    "per-class": ("dataset", "per_class"),
    "iterations": ("dataset", "iterations"),
    "rate": ("dataset", "rate"),
    "bn-weight": ("dataset", "bn_weight"),
    "barycenter-weights": ("dataset", "weights"),
    "start": ("dataset", "start"),
    "distill-seed": ("dataset", "seed"),
    "kernel-inputs": ("inputs", "kernel"),
    "test-inputs": ("inputs", "test"),
    "input-seed": ("inputs", "seed"),
    "projection": ("projection", "name"),
    "k": ("projection", "k"),
    "projection-seed": ("projection", "seed"),
}


class Parser(argparse.ArgumentParser):
    """An argument parser whose errors are one line."""

    def error(self, message):
        raise DNTKError(f"{message}; see {self.prog} --help")


def parser(actions: dict[str, Callable]) -> argparse.ArgumentParser:
    """Describe the commands and their flags; `actions` does what they say."""
    top = Parser(prog="python -m dntk_core", description="Distilled neural tangent kernels.")
    commands = top.add_subparsers(dest="command", required=True, metavar="command", parser_class=Parser)

    build = commands.add_parser("build", help="compute a run, or what is missing of it")
    _add_spec(build)
    _add_compute(build)
    build.add_argument("--epsilon", type=float, default=0.1, help="distance error to state the JL bound for (0.1)")
    build.set_defaults(act=actions["build"])

    fit = commands.add_parser("train", help="train a network on a dataset and write its weights")
    _add_spec(fit)
    _add_compute(fit)
    fit.add_argument("--out", type=Path, required=True, help="the .safetensors file to write")
    fit.set_defaults(act=actions["train"])

    listing = commands.add_parser("runs", help="list what is cached")
    listing.set_defaults(act=actions["runs"])

    judge = commands.add_parser("evaluate", help="scores of a method on a run")
    _add_run(judge)
    judge.add_argument("--method", default="local-global", choices=METHODS, metavar="NAME", help=", ".join(METHODS))
    judge.add_argument("--H", type=int, default=10, help="clusters (local-global; default 10)")
    judge.add_argument("--tau-v", type=float, default=0.8, help="variance threshold (local-global; default 0.8)")
    judge.add_argument("--tau-g", type=float, default=0.8, help="gap threshold (local-global; default 0.8)")
    judge.add_argument("--rule", choices=GAP_RULES, default="ratio", help="gap rule (local-global; default ratio)")
    judge.add_argument("--size", type=int, help="number of distilled gradients (instead of H, τ_v, τ_g)")
    judge.add_argument("--seed", type=int, default=0, help="for clusters and random methods (default 0)")
    judge.set_defaults(act=actions["evaluate"])

    table = commands.add_parser("compare", help="scores of every method over sizes")
    _add_run(table)
    table.add_argument("--sizes", type=int, nargs="+", default=[5, 10, 20, 50], help="default: 5 10 20 50")
    table.add_argument("--seeds", type=int, default=5, help="seeds that random methods are averaged over (default 5)")
    table.set_defaults(act=actions["compare"])

    rebuild = commands.add_parser("paper", help="the paper's experiments on ImageNette: results.md with pictures")
    rebuild.add_argument("--data", required=True, help="a folder with train/<class>/… and val/<class>/…")
    rebuild.add_argument("--model", default="resnet18", help="the network trained here (default resnet18)")
    rebuild.add_argument("--image-size", type=int, default=64, help="pixels of the network trained here (default 64)")
    rebuild.add_argument("--epochs", type=int, default=5, help="of the network trained here (default 5)")
    rebuild.add_argument("--per-class", type=int, default=10, help="distilled images per class (default 10)")
    rebuild.add_argument("--iterations", type=int, default=300, help="of dataset distillation (default 300)")
    rebuild.add_argument("--kernel-inputs", type=int, default=500, help="default 500")
    rebuild.add_argument("--test-inputs", type=int, default=1000, help="default 1000")
    rebuild.add_argument("--pretrained-data", help="images for the pretrained network (default: those of --data)")
    rebuild.add_argument("--pretrained-model", default="mobilenet_v2", help="default mobilenet_v2")
    rebuild.add_argument("--pretrained-weights", default="DEFAULT", help="a file or published weights (DEFAULT)")
    rebuild.add_argument("--pretrained-size", type=int, default=224, help="pixels of the pretrained network (224)")
    rebuild.add_argument("--out", type=Path, default=Path("docs"), help="folder for results.md (default docs)")
    _add_compute(rebuild)
    rebuild.set_defaults(act=actions["paper"])

    clean = commands.add_parser("gc", help="delete runs by key, and what no run needs")
    clean.add_argument("keys", nargs="*", metavar="key", help="runs to delete; none: only leftovers")
    clean.set_defaults(act=actions["gc"])

    for command in commands.choices.values():
        command.add_argument("--json", action="store_true", help="print JSON")
    return top


def _add_spec(command) -> None:
    defaults = RunSpec.default()
    command.add_argument("--spec", type=Path, help="a JSON file with the run's spec; flags override it")
    for flag, (part, name) in SPEC_FLAGS.items():
        default = getattr(getattr(defaults, part), name)
        command.add_argument(f"--{flag}", type=type(default), help=f"default: {default}")
    command.add_argument("--outputs", choices=OUTPUTS, help=f"default: {defaults.outputs}")
    command.add_argument("--precision", choices=PRECISIONS, help=f"of the network; default: {defaults.precision}")


def _add_compute(command) -> None:
    command.add_argument("--device", default="auto", help="auto, cuda, mps or cpu (default: auto)")
    command.add_argument("--batch", type=int, default=0, help="inputs at once; 0 takes as many as fit (default)")
    command.add_argument("--memory", type=float, default=2.0, help="GiB that one batch may take (default: 2)")


# The paper's two base models, on the same distilled images.
REAL, DISTILLED = "distilled images, network of real ones", "distilled images, network of distilled ones"
# What the paper's page says of the command that made it: all but the files, which others have elsewhere.
PAPER_FLAGS = (
    "model",
    "image-size",
    "epochs",
    "per-class",
    "iterations",
    "kernel-inputs",
    "test-inputs",
    "pretrained-model",
    "pretrained-size",
)


def paper_specs(arguments) -> dict[str, RunSpec]:
    """The runs of the paper's experiments by name: real images, published weights, distilled images twice."""
    inputs = InputSpec(arguments.kernel_inputs, arguments.test_inputs)
    data = DataSpec("folder", arguments.data, arguments.image_size)
    trained = RunSpec(data, ModelSpec(arguments.model, epochs=arguments.epochs), inputs=inputs)
    wmdd = DatasetSpec("wmdd", per_class=arguments.per_class, iterations=arguments.iterations)
    own = DataSpec("folder", arguments.pretrained_data or arguments.data, arguments.pretrained_size)
    published = ModelSpec(arguments.pretrained_model, arguments.pretrained_weights)
    return {
        f"{arguments.model}, trained here": trained,
        f"{arguments.pretrained_model}, pretrained": RunSpec(own, published, inputs=inputs),
        REAL: replace(trained, dataset=wmdd),
        DISTILLED: replace(trained, dataset=replace(wmdd, base="distilled")),
    }


def paper_command_line(arguments) -> str:
    """The command that makes the same page of the same images and weights."""
    chosen = " ".join(f"--{flag} {getattr(arguments, flag.replace('-', '_'))}" for flag in PAPER_FLAGS)
    return f"python -m dntk_core paper --data … --pretrained-data … --pretrained-weights … {chosen}"


def compute_of(arguments) -> Compute:
    if arguments.batch < 0 or arguments.memory <= 0:
        raise DNTKError("--batch must be 0 or more and --memory positive")
    # Whoever runs this command may run their own code.
    return Compute(arguments.device, int(arguments.memory * 2**30), arguments.batch, own_code=True)


def _add_run(command) -> None:
    command.add_argument("--run", default="", metavar="KEY", help="start of a run's key (default: the default run)")
    command.add_argument("--ridge", type=float, default=1e-4, help="in units of the mean squared gradient (1e-4)")


def spec_of(arguments) -> RunSpec:
    """The spec file or the default, with every given flag in its place."""
    spec = RunSpec.default()
    if arguments.spec is not None:
        try:
            spec = RunSpec.from_json(arguments.spec.read_text())
        except (OSError, UnicodeDecodeError) as error:
            raise DNTKError(f"the spec file {arguments.spec} cannot be read: {error}") from None
    parts = {field.name: getattr(spec, field.name) for field in fields(spec)}
    for flag, (part, name) in SPEC_FLAGS.items():
        if (value := getattr(arguments, flag.replace("-", "_"))) is not None:
            parts[part] = replace(parts[part], **{name: value})
    for name in ("outputs", "precision"):
        if (value := getattr(arguments, name)) is not None:
            parts[name] = value
    return RunSpec(**parts)
