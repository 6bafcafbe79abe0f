"""Analyse very many inputs ahead of the pages, alone or under torchrun.

torchrun --nproc-per-node N -m dntk_core analyse KEY --clusters 5 10 20
"""

from argparse import ArgumentParser, Namespace

from dntk_core.base.errors import DNTKError
from dntk_core.base.terminal import bar
from dntk_core.cli.flags import add_json

HELP = "spectra and clusters of very many inputs, ahead of the pages, by several processes under torchrun"


def add(parser: ArgumentParser) -> None:
    """Describe the flags."""
    # As a flag, torchrun would take it for one of its own.
    parser.add_argument("key", metavar="KEY", help="the run's key, or its first letters")
    parser.add_argument(
        "--clusters", type=int, nargs="+", metavar="H", help="numbers of clusters (those that pages offer)"
    )
    add_json(parser)


def run(arguments: Namespace) -> tuple[dict, str]:
    """Compute what is missing and keep it beside the run."""
    # torch.distributed takes seconds to load.
    from dntk_core.run.analyses import CLUSTERS, analyse
    from dntk_core.run.pipeline import open_run
    from dntk_core.run.ranks import joined

    found = open_run(arguments.key)
    m = len(found.targets)
    clusters = arguments.clusters or CLUSTERS
    if not all(1 <= H <= m for H in clusters):
        raise DNTKError(f"numbers of clusters must lie in 1..{m}, got {[*clusters]}")
    with joined() as together:
        made = analyse(found, clusters, together, bar())
    done = ", ".join("whole" if what == "whole" else f"H = {what}" for what in made) or "nothing: all was there"
    return {"run": found.key, "analysed": made}, f"run {found.key}: analysed {done}"
