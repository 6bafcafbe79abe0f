"""Write a distilled set of a run to a file, as the Export page does: features AΦ, targets AY, mixing A, a manifest."""

from argparse import ArgumentParser, Namespace
from pathlib import Path

from dntk_core.base.errors import DNTKError
from dntk_core.base.terminal import size
from dntk_core.cli.flags import add_distillation, add_json, add_run, distillation_of, run_of
from dntk_core.run.analyses import live_of
from dntk_core.run.export import EXPORTS, export_distilled

HELP = "write a distilled gradient set to a file"


def add(parser: ArgumentParser) -> None:
    """Describe the flags."""
    parser.add_argument(
        "--out", type=Path, required=True, metavar="FILE", help=f"the file to write, named *{' or *'.join(EXPORTS)}"
    )
    add_run(parser)
    add_distillation(parser)
    add_json(parser)


def run(arguments: Namespace) -> tuple[dict, str]:
    """Distil and write; the file is read back and checked."""
    path, chosen = arguments.out, distillation_of(arguments)
    if path.suffix not in EXPORTS or not path.parent.is_dir():
        raise DNTKError(f"--out must be a file named *{' or *'.join(EXPORTS)} in a folder that exists, got {path}")
    run = run_of(arguments)
    mixing, command = chosen.mixing(live_of(run, chosen.seed)), chosen.command(run.key)
    distilled = export_distilled(run, mixing, path, chosen.ridge, chosen.settings, command, chosen.readout)
    result = {"path": str(path), "bytes": path.stat().st_size, "manifest": distilled.manifest}
    return result, f"{path}: {len(distilled.targets)} gradients, {size(result['bytes'])}, read back and checked"
