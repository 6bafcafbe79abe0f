"""Train a network on a dataset and write its weights; killed and started again, it goes on after its last epoch."""

from argparse import ArgumentParser, Namespace
from pathlib import Path

from dntk_core.base.errors import DNTKError
from dntk_core.base.terminal import Bar
from dntk_core.cli.flags import add_compute, add_json, compute_of
from dntk_core.cli.spec_flags import add_spec, spec_of
from dntk_core.run.pipeline import train_network

HELP = "train a network on a dataset and write its weights"


def add(parser: ArgumentParser) -> None:
    """Describe the flags."""
    parser.add_argument("--out", type=Path, required=True, metavar="FILE", help="the .safetensors file to write")
    add_json(parser)
    add_spec(parser)
    add_compute(parser)


def run(arguments: Namespace) -> tuple[dict, str]:
    """Train and write."""
    if arguments.out.suffix != ".safetensors" or not arguments.out.parent.is_dir():
        raise DNTKError(f"--out must be a .safetensors file in a folder that exists, got {arguments.out}")
    artifact = train_network(spec_of(arguments), Bar(), compute_of(arguments))
    arguments.out.write_bytes(artifact.read("weights.safetensors"))
    test = artifact.note["test_accuracy"]
    return {"weights": str(arguments.out), "test_accuracy": test}, f"{arguments.out}: test accuracy {test:.3f}"
