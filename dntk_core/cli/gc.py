"""Delete runs by key, and what no run needs."""

from argparse import ArgumentParser, Namespace

from dntk_core.base.terminal import size
from dntk_core.cli.flags import add_json
from dntk_core.run.pipeline import collect_garbage, delete_run

HELP = "delete runs by key, and what no run needs"


def add(parser: ArgumentParser) -> None:
    """Describe the flags."""
    parser.add_argument("keys", nargs="*", metavar="key", help="runs to delete, by key; none: only leftovers")
    add_json(parser)


def run(arguments: Namespace) -> tuple[dict, str]:
    """Delete the named runs and all leftovers."""
    freed = sum(delete_run(key) for key in arguments.keys) + collect_garbage()
    return {"bytes_freed": freed}, f"freed {size(freed)}"
