"""Code that prints the numbers of a page: as Python, as a command."""

import re
import shlex
from collections.abc import Sequence

import streamlit as st

from dntk_core.dashboard.choices.mixing import current_distillation, current_mixing
from dntk_core.dashboard.choices.view import chosen_class
from dntk_core.dashboard.page import Page

# Where a call's functions come from.
IMPORTS = {
    "added": "dntk_core.run.also",
    "ask": "dntk_core.run.asked",
    "Doubt": "dntk_core.run.doubt",
    "Insight": "dntk_core.run.insight",
    "alignments": "dntk_core.run.checkup",
    "effective_dimension": "dntk_core.kernels.spectrum",
    "find_series": "dntk_core.run.series",
    "open_series": "dntk_core.run.across",
    "evenly_sized": "dntk_core.dataset.sizes",
    "layers": "dntk_core.run.layers",
    "left_out_sizes": "dntk_core.run.checkup",
    "risks": "dntk_core.run.checkup",
    "suspicious_labels": "dntk_core.run.checkup",
    "judged": "dntk_core.run.doubt",
    "judgement_table": "dntk_core.dataset.judgement",
    "parameter_redundancy": "dntk_core.kernels.spectrum",
    "shifted": "dntk_core.run.doubt",
    "split_approximation": "dntk_core.readout.bounds",
    "told_apart": "dntk_core.run.doubt",
    "truncation_rank": "dntk_core.kernels.spectrum",
    "where": "dntk_core.run.checkup",
}


def python(key: str, calls: Sequence[str]) -> str:
    """Python that opens a run and prints each call, which may use `run`, `live` and IMPORTS."""
    used = [
        f"from {module} import {name}" for name, module in IMPORTS.items() if re.search(rf"\b{name}\(", "".join(calls))
    ]
    lines = [
        *used,
        "from dntk_core.run.analyses import live_of",
        "from dntk_core.run.pipeline import open_run",
        "",
        f'run = open_run("{key}")',
        "live = live_of(run)",
        *(f"print({call})" for call in calls),
    ]
    return "\n".join(lines)


def mixing_call(here: Page) -> str:
    """The call that makes the distilled set on screen."""
    view = here.view
    if view.method == "local-global":
        return f'live.local_global({view.H}, {view.tau_v}, {view.tau_g}, "{view.rule}", "{view.energy}")'
    return f'live.distil("{view.method}", {current_mixing(here.live, view).size}, ridge={view.ridge})'


def class_flag(here: Page) -> str:
    """What a command needs to look at the same kernel."""
    c = chosen_class(here.view)
    return "" if c is None else f" --class {c}"


def scores_command(here: Page) -> str:
    """The command that prints the scores of the distilled set on screen."""
    return f"{current_distillation(here.live, here.view).command(here.run.key)} --json"


def copy_recipe(here: Page, *calls: str, command: str = "") -> None:
    """Offer the calls behind a page; without a `command` of its own, the Python is handed to the interpreter."""
    folded = st.expander("Copy as Python or as a command", key="copy", on_change="rerun")
    # Drawn only while it is unfolded.
    if folded.open:
        code = python(here.run.key, calls)
        with folded:
            st.caption("Both print the numbers behind the figures on this page.")
            st.code(code, language="python", wrap_lines=True)
            st.code(command or f"python -c {shlex.quote(code)}", language="bash", wrap_lines=True)
