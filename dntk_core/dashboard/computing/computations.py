"""Computing runs from the dashboard: start, follow, cancel, resume; every session sees every job."""

import streamlit as st

from dntk_core.base.errors import DNTKError, Unreadable
from dntk_core.base.spec import RunSpec
from dntk_core.base.terminal import duration
from dntk_core.dashboard import cached
from dntk_core.dashboard.choices.sidebar import switch_run
from dntk_core.dashboard.computing.jobs import Job, Jobs, Status
from dntk_core.dashboard.computing.task import Task
from dntk_core.dashboard.drawing import literal
from dntk_core.dashboard.server.settings import settings

_BUSY_SECONDS = 0.7
# Another session may start a job at any time.
_IDLE_SECONDS = 3.0


# Not among Streamlit's cached resources: any browser can ask for those to be forgotten.
_JOBS = Jobs()


def jobs() -> Jobs:
    """The jobs of this server."""
    return _JOBS


def start(spec: RunSpec) -> None:
    """Compute a run in the background, or go on where it was stopped; one whose files lie elsewhere fails at once."""
    jobs().start(spec.key, spec.summary, Task(spec, folders=settings().roots), spec.stages)


def available(key: str) -> bool:
    """Whether a run is ready to open; the embedded one is computed when it is missing."""
    try:
        cached.run(key)
        return True
    except Unreadable:
        # It may well be there: nothing is to be computed, and the page says what is wrong.
        raise
    except DNTKError:
        if key == RunSpec.default().key and jobs().get(key) is None:
            start(RunSpec.default())
        return False


def follow(keys: tuple[str, ...] | None = None) -> None:
    """Show all jobs, or those under `keys`, and keep them up to date; with every stage the page is drawn anew."""
    active = any(job.status().active for job in jobs().all())
    st.fragment(_cards, run_every=_BUSY_SECONDS if active else _IDLE_SECONDS)(keys)


def _cards(keys: tuple[str, ...] | None) -> None:
    shown = [job for job in jobs().all() if keys is None or job.key in keys]
    followed = st.session_state.setdefault("followed", set())
    # A page may show what is made already: it is drawn anew with every stage.
    active = {(job.key, len(job.status().finished)) for job in shown if job.status().active}
    if active != followed:
        st.session_state["followed"] = active
        st.rerun()
    for job in shown:
        _card(job)


def _card(job: Job) -> None:
    status = job.status()
    with st.container(border=True, gap="xsmall", key=f"job_{job.key}"):
        st.markdown(f"**{literal.markdown(job.title)}**")
        if status.state == "failed":
            st.error(literal.markdown(status.error))
        elif status.active:
            st.progress(_fraction(status), text=literal.markdown(_sentence(status)))
        st.caption(_stages(job.stages, status))
        with st.container(horizontal=True):
            _buttons(job, status)


def _buttons(job: Job, status: Status) -> None:
    if status.active:
        stopping = status.state == "cancelling"
        st.button("Cancel", key=f"cancel_{job.key}", on_click=job.cancel, disabled=stopping)
        return
    if status.state == "done":
        # No callback: it would run the cards alone again, and the page would go on showing the last run.
        if st.button("Open", key=f"open_job_{job.key}", type="primary"):
            # What belongs to a run has its key and a word more.
            switch_run(job.key.partition("-")[0])
            st.rerun()
    # What was refused before its first stage has nothing to go on from.
    elif status.state == "cancelled" or (status.event is not None and status.event.stage in job.stages):
        st.button("Resume", key=f"resume_{job.key}", on_click=_resume, args=(job,), type="primary")
    st.button("Dismiss", key=f"dismiss_{job.key}", on_click=jobs().forget, args=(job.key,))


def _resume(job: Job) -> None:
    jobs().start(job.key, job.title, job.task, job.stages)


def _fraction(status: Status) -> float:
    event = status.event
    return min(1.0, event.done / event.total) if event and event.total else 0.0


def _sentence(status: Status) -> str:
    """What is being done and how long it will take."""
    if status.state == "cancelling":
        return "Stopping; what is finished stays in the cache."
    if status.event is None:
        return "Starting; loading PyTorch takes a few seconds"
    event = status.event
    left = "" if status.remaining is None else f" · about {duration(status.remaining)} left in this stage"
    note = f" · {event.note}" if event.note else ""
    return f"{event.stage.capitalize()}: {event.done:,} of {event.total:,}{note}{left}"


def _stages(stages: tuple[str, ...], status: Status) -> str:
    """The stages in order: finished ones with their time, the current one in bold, the rest as they are."""
    finished = dict(status.finished)
    current = status.event.stage if status.event else ""
    words = {name: f"✓ {name} {duration(finished[name])}" for name in finished}
    if current not in finished:
        words[current] = f"**{current}**"
    steps = " → ".join(words.get(name, name) for name in stages)
    return {"done": "Done. ", "cancelled": "Cancelled. ", "failed": ""}.get(status.state, "") + steps
