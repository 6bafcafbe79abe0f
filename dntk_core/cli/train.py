"""Train a network on a dataset and write its weights; killed and started again, it goes on after its last epoch."""

from argparse import ArgumentParser, Namespace
from dataclasses import replace
from pathlib import Path

from dntk_core.base.errors import DNTKError
from dntk_core.base.spec import RunSpec
from dntk_core.base.terminal import Bar
from dntk_core.cli.flags import add_compute, add_json, compute_of
from dntk_core.cli.spec_flags import add_spec, spec_of
from dntk_core.run.pipeline import train_network

HELP = "train a network on a dataset and write its weights"


def add(parser: ArgumentParser) -> None:
    """Describe the flags."""
    parser.add_argument("--out", type=Path, required=True, metavar="FILE", help="the .safetensors file to write")
    add_keep(parser)
    add_json(parser)
    add_spec(parser, ("data", "model"))
    add_compute(parser)


def add_keep(parser: ArgumentParser) -> None:
    """Which checkpoints of training are kept."""
    group = parser.add_mutually_exclusive_group()
    group.add_argument(
        "--keep",
        default="",
        metavar="EPOCHS",
        help="keep the weights after these epochs too, 0 being before the first: numbers, commas between",
    )
    group.add_argument("--keep-every", type=int, default=0, metavar="N", help="keep the weights after every N epochs")


def keeping(spec: RunSpec, arguments: Namespace) -> RunSpec:
    """The spec with the checkpoints that the flags ask for."""
    keep = arguments.keep.replace(" ", "")
    if arguments.keep_every < 0:
        raise DNTKError(f"--keep-every must be a number of epochs, 1 or more, got {arguments.keep_every}")
    if arguments.keep_every:
        epochs = spec.model.epochs
        keep = ",".join(map(str, sorted({*range(0, epochs + 1, arguments.keep_every), epochs})))
    return replace(spec, model=replace(spec.model, keep=keep))


def run(arguments: Namespace) -> tuple[dict, str]:
    """Train and write."""
    out: Path = arguments.out
    if out.suffix != ".safetensors" or not out.parent.is_dir():
        raise DNTKError(f"--out must be a .safetensors file in a folder that exists, got {out}")
    spec = keeping(spec_of(arguments), arguments)
    if spec.model.weights:
        raise DNTKError("--weights are there already; leave them out to train, or give them to `build`")
    artifact = train_network(spec, Bar(), compute_of(arguments))
    out.write_bytes(artifact.read("weights.safetensors"))
    kept = {epoch: out.with_name(f"{out.stem}-epoch-{epoch:03d}.safetensors") for epoch in spec.model.kept}
    for epoch, path in kept.items():
        path.write_bytes(artifact.read(f"epoch-{epoch:03d}.safetensors"))
    test = artifact.note["test_accuracy"]
    text = f"{out}: accuracy on all test inputs {test:.3f}"
    if kept:
        text += f"\n{out.stem}-epoch-*.safetensors beside it: {len(kept)} checkpoints, for `series --weights`"
    return {"weights": str(out), "test_accuracy": test, "kept": [str(path) for path in kept.values()]}, text
