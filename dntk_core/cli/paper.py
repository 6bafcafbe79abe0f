"""The paper's experiments on ImageNette: results.md with pictures; killed, it goes on where it stopped."""

from argparse import ArgumentParser, Namespace
from dataclasses import replace
from pathlib import Path

from dntk_core.base.spec import DatasetSpec, DataSpec, InputSpec, ModelSpec, RunSpec
from dntk_core.base.terminal import Bar
from dntk_core.cli.flags import METAVARS, add_compute, add_json, compute_of, dashboard_needed, stage_table
from dntk_core.run.pipeline import load_or_build

HELP = "the paper's experiments on ImageNette: results.md with pictures"
# What the page says of the command that made it: all but the files, which others have elsewhere.
NUMBERS = {
    "image-size": (64, "side in pixels of the images for the network trained here"),
    "epochs": (5, "passes over the images of the network trained here"),
    "per-class": (10, "distilled images of each class"),
    "iterations": (300, "steps of dataset distillation"),
    "kernel-inputs": (500, "number of images the kernels are computed on"),
    "test-inputs": (1000, "number of images the readouts are judged by"),
    "pretrained-size": (224, "side in pixels of the images for the pretrained network"),
}
NAMES = {
    "model": ("resnet18", "the network that is trained here"),
    "pretrained-model": ("mobilenet_v2", "the network with published weights"),
}


def add(parser: ArgumentParser) -> None:
    """Describe the flags."""
    parser.add_argument("--data", required=True, metavar="FOLDER", help="images: train/<class>/… and val/<class>/…")
    for name, (default, text) in (NAMES | NUMBERS).items():
        kind = type(default)
        parser.add_argument(f"--{name}", type=kind, default=default, metavar=METAVARS[kind], help=f"{text} ({default})")
    parser.add_argument(
        "--pretrained-data", metavar="FOLDER", help="images for the pretrained network (default: those of --data)"
    )
    parser.add_argument(
        "--pretrained-weights", default="DEFAULT", metavar="NAME", help="a weights file or published weights (DEFAULT)"
    )
    parser.add_argument(
        "--out", type=Path, default=Path("docs"), metavar="FOLDER", help="where results.md is written (docs)"
    )
    add_json(parser)
    add_compute(parser)


def run(arguments: Namespace) -> tuple[dict, str]:
    """Compute the runs one after the other, then write the page."""
    with dashboard_needed():
        from dntk_core.dashboard.paper import write_results
    found = {name: load_or_build(spec, Bar(), compute_of(arguments)) for name, spec in specs(arguments).items()}
    page = write_results(found, command_line(arguments), arguments.out)
    result = {"page": str(page), "runs": {name: run.key for name, run in found.items()}}
    costs = [f"{name}\n{stage_table(run)}" for name, run in found.items()]
    return result, "\n".join([*costs, f"wrote {page}"])


def specs(arguments: Namespace) -> dict[str, RunSpec]:
    """The runs of the paper's experiments by name: real images, published weights, distilled images twice."""
    from dntk_core.dashboard.paper import DISTILLED, REAL

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


def command_line(arguments: Namespace) -> str:
    """The command that makes the same page of the same images and weights."""
    chosen = " ".join(f"--{name} {getattr(arguments, name.replace('-', '_'))}" for name in NAMES | NUMBERS)
    return f"python -m dntk_core paper --data … --pretrained-data … --pretrained-weights … {chosen}"
