"""Say which groups of parameters carry a run's kernel; the run must have kept them apart (build --groups)."""

from argparse import ArgumentParser, Namespace

from dntk_core.cli.flags import add_class, add_json, add_ridge, add_run, class_of, run_of
from dntk_core.run.layers import Layers, layers

HELP = "which groups of parameters carry the kernel"


def add(parser: ArgumentParser) -> None:
    """Describe the flags."""
    add_run(parser)
    add_class(parser)
    add_ridge(parser)
    add_json(parser)


def run(arguments: Namespace) -> tuple[dict, str]:
    """Take a run's kernel apart."""
    opened = run_of(arguments)
    found = layers(opened, arguments.ridge, class_of(arguments, opened))
    names = ("trace", "fit", "whole", "targets", "labels", "alone", "without", "fidelity", "between")
    result = {
        "run": opened.key,
        "groups": [vars(columns) for columns in found.columns],
        **{name: getattr(found, name).tolist() for name in names},
        "full": found.full,
    }
    return result, table(found)


def table(found: Layers) -> str:
    """A row per group, as Markdown."""
    head = ("group", "parameters", "dimensions", "trace", "fit", "CKA with the whole")
    head += ("alignment with outputs", "with labels", "accuracy alone", "all but it")
    lines = [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}"]
    for g, columns in enumerate(found.columns):
        width = columns.stop - columns.start
        cells = (
            columns.group,
            f"{columns.P:,}",
            f"{width:,}{' (all)' if columns.exact else ''}",
            f"{found.trace[g]:.1%}",
            f"{found.fit[g]:.1%}",
            f"{found.whole[g]:.2f}",
            f"{found.targets[g]:.2f}",
            f"{found.labels[g]:.2f}",
            f"{found.alone[g]:.1%}",
            f"{found.without[g]:.1%}",
        )
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join([*lines, "", f"The whole kernel: accuracy {found.full:.1%}."])
