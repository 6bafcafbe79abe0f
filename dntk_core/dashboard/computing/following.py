"""The series of a run on the Training page: computed in the background, chosen, scrubbed."""

from collections.abc import Sequence
from functools import partial

import streamlit as st

from dntk_core.dashboard import cached
from dntk_core.dashboard.choices.tabs import tab
from dntk_core.dashboard.computing import computations
from dntk_core.dashboard.computing.task import Task
from dntk_core.dashboard.page import Page
from dntk_core.dashboard.server.settings import settings
from dntk_core.run.progression import Progression
from dntk_core.run.series import Series, keep_series


def chosen_series(here: Page, known: Sequence[Series], offered: Series | None) -> Progression | None:
    """Let a person choose a series of the open run; where there is none yet, offer to compute one."""
    key = f"{here.run.key}-series"
    if not known:
        _offer(here, key, offered)
        return None
    computations.jobs().forget(key)
    names = {each.key: each.title for each in known}
    chosen = tab(here, "series", names, label="Series", draw=st.selectbox) if len(names) > 1 else known[0].key
    return cached.progression(chosen)


def ask_checkpoint(here: Page, found: Progression) -> None:
    """Let a person scrub through the checkpoints; the link says which."""
    labels = found.series.labels
    tab(here, "checkpoint", labels, labels[-1], "Checkpoint", partial(st.select_slider, width=520))


def choose_checkpoint(label: str) -> None:
    """Scrub to a checkpoint, from a callback."""
    st.session_state["kept_checkpoint"] = label


def _offer(here: Page, key: str, offered: Series | None) -> None:
    if offered is None:
        st.info(
            "No series of this network is known, and no page can compute one: its training was not done here or ended "
            "too soon, it needs code of your own, or its files are gone. Build one by `dntk series --keep 0,1,2,5 …`, "
            "or from checkpoints by `dntk series --weights 'epoch-*.safetensors' …`, and it is shown here."
        )
        return
    inputs = offered.specs[-1].inputs
    st.caption(
        f"The network is trained again, its weights are kept after {len(offered.labels)} epochs, and the kernel of "
        f"each is computed on {inputs.kernel:,} + {inputs.test:,} inputs; on digits this takes about a minute."
    )
    st.button("Compute the series", on_click=_start, args=(key, offered), type="primary")
    computations.follow((key,))


def _start(key: str, offered: Series) -> None:
    keep_series(offered)
    task = Task(offered.specs[-1], series=offered.key, folders=settings().roots)
    computations.jobs().start(key, f"Series of {offered.title}", task, ("series",))
