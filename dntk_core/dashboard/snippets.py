"""Code that gives the numbers on screen: as Python, as a command."""

import streamlit as st

from dntk_core.dashboard.view import View
from dntk_core.run.distillation import Distillation


def copy_blocks(key: str, view: View, size: int) -> None:
    """Offer the code for the distilled set on screen, which has `size` gradients; each block has a copy button."""
    about = "Both print the scores of the distilled set that these settings make, and of the full kernel."
    copy_expander(about, as_python(key, view, size), as_command(key, view, size))


def copy_expander(about: str, python: str, command: str) -> None:
    """Two blocks to copy, drawn only while they are unfolded."""
    folded = st.expander("Copy as Python or as a command", key="copy", on_change="rerun")
    if folded.open:
        with folded:
            st.caption(about)
            st.code(python, language="python", wrap_lines=True)
            st.code(command, language="bash", wrap_lines=True)


def as_command(key: str, view: View, size: int) -> str:
    """The command line that prints the scores."""
    return f"{distillation(view, size).command(key)} --json"


def distillation(view: View, size: int) -> Distillation:
    """The distilled set on screen, which has `size` gradients."""
    if view.method == "local-global":
        return Distillation(view.method, view.H, view.tau_v, view.tau_g, view.rule, view.ridge)
    return Distillation(view.method, ridge=view.ridge, size=size)


def as_python(key: str, view: View, size: int) -> str:
    """The Python that prints the scores."""
    if view.method == "local-global":
        imports = "from dntk_core import local_global, spectral_clusters\n"
        mixing = (
            f"labels = spectral_clusters(run.kernels.mean, H={view.H}, seed=0)\n"
            f"mixing = local_global(run.kernels.mean, labels, tau_v={view.tau_v}, tau_g={view.tau_g}, "
            f'rule="{view.rule}")'
        )
    else:
        imports = "from dntk_core.distill import METHODS, Source\n"
        mixing = (
            "source = Source(run.kernels, run.targets)\n"
            f'mixing = METHODS["{view.method}"].distil(source, size={size}, ridge={view.ridge}, seed=0)'
        )
    return (
        f"{imports}"
        "from dntk_core.run.pipeline import open_run\n"
        "from dntk_core.readout.ridge import evaluate\n\n"
        f'run = open_run("{key}")\n'
        f"{mixing}\n"
        f"print(evaluate(run.problem, mixing, ridge={view.ridge}))\n"
        f"print(evaluate(run.problem, None, ridge={view.ridge}))"
    )
