"""Code that prints the numbers of a page: as Python, as a command."""

import shlex
from collections.abc import Sequence

from dntk_core.dashboard.page import Page
from dntk_core.dashboard.snippets import copy_expander

NAMES = {
    "effective_dimension": "dntk_core.kernels.spectrum",
    "evenly_sized": "dntk_core.dataset.sizes",
    "judgement_table": "dntk_core.dataset.judgement",
    "parameter_redundancy": "dntk_core.kernels.spectrum",
    "truncation_rank": "dntk_core.kernels.spectrum",
}


def python(key: str, calls: Sequence[str]) -> str:
    """Python that opens a run and prints each call, which may use `run`, `live` and NAMES."""
    used = [f"from {module} import {name}" for name, module in NAMES.items() if name in "".join(calls)]
    lines = [
        *used,
        "from dntk_core.run.live import Live",
        "from dntk_core.run.pipeline import open_run",
        "",
        f'run = open_run("{key}")',
        "live = Live(run.problem)",
        *(f"print({call})" for call in calls),
    ]
    return "\n".join(lines)


def copy_recipe(here: Page, *calls: str, command: str = "") -> None:
    """Offer the calls behind a page; without a `command` of its own, the Python is handed to the interpreter."""
    code = python(here.run.key, calls)
    about = "Both print the numbers behind the figures on this page."
    copy_expander(about, code, command or f"python -c {shlex.quote(code)}")
