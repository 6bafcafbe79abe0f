"""Delete runs by key, and what no run needs."""

from argparse import ArgumentParser, Namespace

from dntk_core.base.terminal import size
from dntk_core.cache.store import Store
from dntk_core.cli.flags import add_json
from dntk_core.run.pipeline import collect_garbage, delete_run, leftovers, runs
from dntk_core.run.series import drop_series, find_series

HELP = "delete runs by key, and what no run needs"


def add(parser: ArgumentParser) -> None:
    """Describe the flags."""
    parser.add_argument(
        "keys", nargs="*", metavar="key", help="runs and series to delete, by key; none: only leftovers"
    )
    parser.add_argument(
        "--unfinished", action="store_true", help="also dismiss all unfinished runs that nobody is computing now"
    )
    parser.add_argument("--damaged", action="store_true", help="also delete what was set aside as damaged")
    add_json(parser)


def run(arguments: Namespace) -> tuple[dict, str]:
    """Delete the named runs and all leftovers."""
    unfinished = leftovers() if arguments.unfinished else []
    wanted = [run for key in arguments.keys for run in _runs_of(key)]
    freed = sum(delete_run(key) for key in dict.fromkeys([*wanted, *unfinished])) + collect_garbage()
    freed += Store().discard_damaged() if arguments.damaged else 0
    return {"bytes_freed": freed}, f"freed {size(freed)}"


def _runs_of(key: str) -> list[str]:
    """The run of a key; of a series, which is forgotten, its checkpoints but for the last network."""
    if (series := find_series(key)) is None:
        return [key]
    drop_series(key)
    there = {info.key for info in runs()}
    return [run for run in series.keys[:-1] if run in there]
