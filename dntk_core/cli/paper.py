"""The paper's experiments on its datasets: results.md with pictures; killed, it goes on where it stopped."""

from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from dntk_core.base.errors import DNTKError
from dntk_core.base.spec import DatasetSpec, DataSpec, InputSpec, ModelSpec, ProjectionSpec, RunSpec
from dntk_core.base.terminal import Bar
from dntk_core.cli.flags import METAVARS, add_compute, add_json, compute_of, dashboard_needed, stage_table
from dntk_core.run.pipeline import Run, cached_kernels, load_or_build_kernels

HELP = "the paper's experiments on ImageNette and ImageWoof: results.md with pictures"
# What the page says of the command that made it: all but the files, which others have elsewhere.
NUMBERS = {
    "image-size": (128, "side in pixels of the real images"),
    "distilled-size": (64, "side in pixels of the distilled images"),
    "epochs": (12, "passes over the images where a network is trained; as many steps on distilled ones"),
    "per-class": (50, "distilled images of each class"),
    "iterations": (2000, "steps of dataset distillation"),
    "bn-weight": (1000.0, "weight of its batch-norm loss"),
    "kernel-inputs": (500, "number of real images the kernels are computed on"),
    "test-inputs": (1000, "number of images the readouts are judged by"),
    "pretrained-size": (224, "side in pixels of the images for the pretrained network"),
    # A group's own kernel needs more dimensions than inputs.
    "blocks-k": (16384, "dimensions that the blocks of the first dataset's network share"),
}
# How networks learn that see few images; a rate of 0.05 and a decay of 5e-4 are a point or two worse.
OF_FEW = {"rate": 0.02, "batch": 32, "decay": 5e-3}
NAMES = {
    "model": ("resnet18", "the network of all datasets"),
    "pretrained-model": ("mobilenet_v2", "another network, with published weights"),
    "distilled-precision": ("float32", "precision of the networks' products in distillation and on few images"),
}


def add(parser: ArgumentParser) -> None:
    """Describe the flags."""
    parser.add_argument(
        "--data",
        required=True,
        nargs="+",
        metavar="FOLDER",
        help="images of each dataset: train/<class>/…, val/<class>/…",
    )
    parser.add_argument(
        "--weights",
        nargs="+",
        default=[],
        metavar="FILE",
        help="the network's weights for each dataset (default: trained)",
    )
    for name, (default, text) in (NAMES | NUMBERS).items():
        kind = type(default)
        parser.add_argument(f"--{name}", type=kind, default=default, metavar=METAVARS[kind], help=f"{text} ({default})")
    parser.add_argument(
        "--pretrained-data", metavar="FOLDER", help="images for another network (default: none is taken)"
    )
    parser.add_argument(
        "--pretrained-weights", default="DEFAULT", metavar="NAME", help="a weights file or published weights (DEFAULT)"
    )
    parser.add_argument(
        "--finished", action="store_true", help="compute nothing: the page lists runs that are not in the cache as such"
    )
    parser.add_argument(
        "--out", type=Path, default=Path("docs"), metavar="FOLDER", help="where results.md is written (docs)"
    )
    add_json(parser)
    add_compute(parser)


def run(arguments: Namespace) -> tuple[dict, str]:
    """Compute the runs one after the other, then write the page."""
    with dashboard_needed():
        from dntk_core.dashboard.offline.paper import write_results
    if arguments.weights and len(arguments.weights) != len(arguments.data):
        raise DNTKError(f"--weights needs a file for each of the {len(arguments.data)} folders of --data")
    found: dict[str, Run | None] = {}
    for name, spec in specs(arguments).items():
        found[name] = cached_kernels(spec) if arguments.finished else _built(spec, arguments)
    done = {name: run for name, run in found.items() if run is not None}
    if not done:
        raise DNTKError("none of the runs is in the cache; without --finished they are computed")
    page, points = write_results(found, datasets(arguments), command_line(arguments), arguments.out)
    result = {
        "page": str(page),
        "runs": {name: run.key for name, run in done.items()},
        "claims": [{"claim": point.claim, "ours": point.ours, "verdict": point.verdict.word} for point in points],
    }
    costs = [f"{name}\n{stage_table(run)}" for name, run in done.items()]
    return result, "\n".join([*costs, f"wrote {page}"])


def _built(spec: RunSpec, arguments: Namespace) -> Run:
    return load_or_build_kernels(spec, Bar(), compute_of(arguments))


def datasets(arguments: Namespace) -> tuple[str, ...]:
    """The datasets by the names of their folders."""
    return tuple(Path(folder).name for folder in arguments.data)


def specs(arguments: Namespace) -> dict[str, RunSpec]:
    """The runs by name: of every dataset real images and distilled ones, with either base model, and few real ones.

    Last comes the first dataset once more, the network's blocks kept apart.
    """
    return dict(_specs(arguments))


def _specs(arguments: Namespace) -> Iterator[tuple[str, RunSpec]]:
    from dntk_core.dashboard.offline.paper import BLOCKS, CHOSEN, DISTILLED, REAL, STUDENT

    inputs = InputSpec(arguments.kernel_inputs, arguments.test_inputs)
    wmdd = DatasetSpec(
        "wmdd",
        per_class=arguments.per_class,
        iterations=arguments.iterations,
        bn_weight=arguments.bn_weight,
        precision=arguments.distilled_precision,
    )
    weights = arguments.weights or [""] * len(arguments.data)
    for name, folder, file in zip(datasets(arguments), arguments.data, weights, strict=True):
        model = ModelSpec(arguments.model, file, epochs=arguments.epochs)
        yield REAL.format(name), RunSpec(DataSpec("folder", folder, arguments.image_size), model, inputs=inputs)
        small = RunSpec(DataSpec("folder", folder, arguments.distilled_size), model, wmdd, inputs)
        yield DISTILLED.format(name), small
        learner = replace(small, model=replace(model, **OF_FEW))
        yield STUDENT.format(name), replace(learner, dataset=replace(wmdd, base="distilled"))
        chosen = DatasetSpec("random", "distilled", arguments.per_class, precision=arguments.distilled_precision)
        yield CHOSEN.format(name), replace(learner, dataset=chosen)
    if arguments.pretrained_data:
        data = DataSpec("folder", arguments.pretrained_data, arguments.pretrained_size)
        published = ModelSpec(arguments.pretrained_model, arguments.pretrained_weights)
        name = f"{Path(arguments.pretrained_data).name}, {arguments.pretrained_model}"
        yield name, RunSpec(data, published, inputs=inputs)
    first = RunSpec(
        DataSpec("folder", arguments.data[0], arguments.image_size),
        ModelSpec(arguments.model, weights[0], epochs=arguments.epochs),
        inputs=inputs,
        projection=ProjectionSpec(k=arguments.blocks_k, groups="blocks"),
    )
    yield BLOCKS.format(datasets(arguments)[0]), first


def command_line(arguments: Namespace) -> str:
    """The command that makes the same page of the same images and weights."""
    chosen = " ".join(f"--{name} {getattr(arguments, name.replace('-', '_'))}" for name in NAMES | NUMBERS)
    files = " ".join(Path(folder).name for folder in arguments.data)
    weights = " --weights …" if arguments.weights else ""
    return f"python -m dntk_core paper --data {files}{weights} --pretrained-data … --pretrained-weights … {chosen}"
