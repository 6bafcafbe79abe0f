"""Compare the kernels of runs on the same inputs: CKA, angles between leading directions, agreement of predictions."""

from argparse import ArgumentParser, Namespace

import numpy as np

from dntk_core.base.errors import DNTKError
from dntk_core.base.terminal import Bar
from dntk_core.cli.flags import add_compute, add_json, compute_of
from dntk_core.run.asked import ask
from dntk_core.run.likeness import MOST_CLASSES, check_comparable, class_likeness, likeness, trust
from dntk_core.run.pipeline import open_run

HELP = "how alike the kernels of runs on the same inputs are"


def add(parser: ArgumentParser) -> None:
    """Describe the flags."""
    parser.add_argument("runs", nargs="+", metavar="KEY", help="two or more runs, by their keys or the start of them")
    add_json(parser)
    add_compute(parser)


def run(arguments: Namespace) -> tuple[dict, str]:
    """Compare every two of the runs."""
    if len(arguments.runs) < 2:
        raise DNTKError("compare-runs needs two or more runs; `runs` lists them")
    opened = [open_run(key) for key in arguments.runs]
    check_comparable(opened)
    found = likeness(opened)
    # Exact kernels of a few inputs need the networks; runs made in Python no longer have them.
    whole = not any(each.spec.from_python for each in opened)
    compute = compute_of(arguments)
    trusted = trust(opened, [ask(each, "probed", Bar(), compute) for each in opened]) if whole else None
    names, T = [*opened[0].class_names, "mean kernel"], len(opened)
    pairs = [(a, b) for a in range(T) for b in range(a + 1, T)]
    between = class_likeness(*opened) if T == 2 and len(names) - 1 <= MOST_CLASSES else None
    result = {
        "runs": [each.key for each in opened],
        "kernels": names,
        "cka": found.cka.tolist(),
        "angles": found.angles.tolist(),
        "agreement": found.agreement.tolist(),
        "classes": None if between is None else between.tolist(),
        "trust": None if trusted is None else vars(trusted),
    }
    lines = [f"{letter(t)} = {each.key}  {each.spec.summary}" for t, each in enumerate(opened)]
    for a, b in pairs:
        lines.append(
            f"{letter(a)} and {letter(b)}: networks choose alike on {found.agreement[a, b]:.1%} of test inputs"
        )
        lines.append(f"  {'kernel':16} {'CKA':>6}   angles of the leading {found.angles.shape[-1]} directions, degrees")
        for c, name in enumerate(names):
            angles = " ".join(f"{angle:3.0f}" for angle in found.angles[c, a, b])
            lines.append(f"  {name[:16]:16} {found.cka[c, a, b]:6.3f}   {angles}")
    if between is not None:
        lines += ["CKA of A's classes (rows) with B's:", *rows(between)]
    error = f"; {trusted}" if trusted else ""
    lines.append(f"CKA on {len(found.inputs)} kernel inputs, debiased{error}.")
    return result, "\n".join(lines)


def rows(between: np.ndarray) -> list[str]:
    """CKA (C, C) of every class of one run with every class of another."""
    return ["  " + " ".join(f"{value:5.2f}" for value in row) for row in between]


def letter(t: int) -> str:
    """A name for the t-th run."""
    return chr(ord("A") + t) if t < 26 else f"run {t + 1}"
