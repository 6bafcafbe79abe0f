"""How far likeness can be trusted: exact kernels of a few inputs of two runs, computed in the background."""

import streamlit as st

from dntk_core.dashboard.computing import computations
from dntk_core.dashboard.computing.task import Task
from dntk_core.dashboard.server.settings import settings
from dntk_core.run.asked import known
from dntk_core.run.finished import Run

STAGE = "probed"


def unprobed(*runs: Run) -> list[Run]:
    """The runs whose exact kernels of a few inputs are not there yet.

    To be asked before what they bring is drawn: if they come meanwhile, the page still follows them and draws again.
    """
    missing = []
    for run in runs:
        if known(run, STAGE) is None:
            missing.append(run)
        else:
            computations.jobs().forget(_key(run))
    return missing


def offer_probe(missing: list[Run]) -> None:
    """Offer to compute the exact kernels of runs that lack them."""
    # Networks that Python or a user's own code made are not loaded here.
    if not missing or any(run.spec.from_python or run.spec.model.own or run.spec.data.own for run in missing):
        return
    st.caption("How far this CKA, from projected gradients, is off that of exact kernels has not been measured yet.")
    st.button("Measure it on 24 inputs", on_click=_start, args=(missing,))
    computations.follow(tuple(map(_key, missing)))


def _start(runs: list[Run]) -> None:
    for run in runs:
        task = Task(run.spec, STAGE, folders=settings().roots)
        computations.jobs().start(_key(run), f"Exact kernels of {run.spec.summary}", task, (STAGE,))


def _key(run: Run) -> str:
    return f"{run.key}-{STAGE}"
