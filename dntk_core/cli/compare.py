"""Score every method at every size."""

from argparse import ArgumentParser, Namespace

from dntk_core.base.terminal import Bar
from dntk_core.cli.flags import add_json, add_readout, add_ridge, add_run, run_of
from dntk_core.readout.comparison import compare, comparison_table
from dntk_core.readout.metrics import METRICS

HELP = "scores of every method over sizes"


def add(parser: ArgumentParser) -> None:
    """Describe the flags."""
    add_run(parser)
    add_ridge(parser)
    add_readout(parser)
    parser.add_argument(
        "--sizes",
        type=int,
        nargs="+",
        default=[5, 10, 20, 50],
        metavar="S",
        help="numbers of distilled gradients to compare at (5 10 20 50)",
    )
    parser.add_argument(
        "--seeds", type=int, default=5, metavar="N", help="number of seeds that random methods are averaged over (5)"
    )
    add_json(parser)


def run(arguments: Namespace) -> tuple[list[dict], str]:
    """Compare the methods."""
    problem = run_of(arguments).problem
    curves = compare(
        problem, arguments.sizes, arguments.ridge, range(arguments.seeds), report=Bar(), by=arguments.readout
    )
    names = ("rows", *METRICS, "coverage", "reconstruction")
    result = [
        {"method": curve.method, "sizes": curve.sizes.tolist(), "settings": curve.settings}
        | {name: curve.mean(name).tolist() for name in names}
        | {f"{name}_std": curve.std(name).tolist() for name in names}
        for curve in curves
    ]
    return result, comparison_table(curves)
