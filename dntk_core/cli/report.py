"""Write every figure of a run into one HTML file that needs no internet, as the Export page does."""

from argparse import ArgumentParser, Namespace
from pathlib import Path

from dntk_core.base.errors import DNTKError
from dntk_core.base.terminal import size
from dntk_core.cli.flags import METAVARS, add_json, add_run, dashboard_needed, run_of
from dntk_core.distill import GAP_RULES, METHODS
from dntk_core.kernels.spectrum import ENERGIES

HELP = "write every figure of a run into one HTML file"
# A setting that is not given is as on the pages, which cut it to what the run allows.
SETTINGS = {
    "H": (int, None, "number of clusters"),
    "tau_v": (float, None, "share of each cluster's variance that its rows must explain"),
    "tau_g": (float, None, "a global direction covered less than this becomes a gap row"),
    "rule": (str, GAP_RULES, "how coverage of a direction is measured"),
    "energy": (str, ENERGIES, "what variance is: eigenvalues (gradients) or their squares (kernel)"),
    "method": (str, METHODS, "how gradients are distilled, to as many as local-global makes"),
    "ridge": (float, None, "ridge of the readout: 1 or 3 times a power of ten"),
    "epsilon": (float, None, "share of the variance that a kernel's rank may leave out"),
    "rank": (int, None, "rank of the truncated kernels"),
    "kernel": (str, None, "the kernel shown: mean, or the number of a class"),
}


def add(parser: ArgumentParser) -> None:
    """Describe the flags."""
    parser.add_argument("--out", type=Path, required=True, metavar="FILE", help="the .html file to write")
    add_run(parser)
    view = parser.add_argument_group("view", "the settings of the pages; one that is not given is as they start")
    for name, (kind, choices, text) in SETTINGS.items():
        flag = f"--{name.replace('_', '-')}"
        view.add_argument(flag, type=kind, choices=choices, metavar=METAVARS[kind], help=text)
    add_json(parser)


def run(arguments: Namespace) -> tuple[dict, str]:
    """Draw and write."""
    path = arguments.out
    if path.suffix != ".html" or not path.parent.is_dir():
        raise DNTKError(f"--out must be an .html file in a folder that exists, got {path}")
    with dashboard_needed():
        from dntk_core.dashboard.offline.exporting import write_report
        from dntk_core.dashboard.offline.pages import open_page
    given = {name: str(value) for name in SETTINGS if (value := getattr(arguments, name)) is not None}
    run = run_of(arguments)
    path.write_text(write_report(open_page(run, given)))
    return {"path": str(path), "run": run.key}, f"wrote {path}, {size(path.stat().st_size)}"
