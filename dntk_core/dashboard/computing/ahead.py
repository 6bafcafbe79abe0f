"""Runs of many inputs: what no slider changes is analysed by itself, in the background, when a page first opens one."""

from dntk_core.cache.store import Store
from dntk_core.dashboard import cached
from dntk_core.dashboard.computing import computations
from dntk_core.dashboard.computing.task import ANALYSED, Task
from dntk_core.dashboard.server.settings import settings
from dntk_core.run.analyses import CLUSTERS, WHOLE, Analysed, title
from dntk_core.run.pipeline import Run


def ready(key: str) -> bool:
    """Whether pages of a run can be drawn; of many inputs, what is missing is computed, the first H before the others.

    Until the spectra and the first H are there a page would compute them itself, while nobody sees how far it is.
    """
    run = cached.run(key)
    if run.dense or run.spec.sketch.used:
        return True
    found, parts = Analysed(run, Store()), (WHOLE, *map(str, CLUSTERS))
    missing = [what for what in parts if not found.has(what)]
    # One that has failed, or was cancelled, is not started again by itself.
    if missing and computations.jobs().get(job_key(run)) is None:
        task = Task(run.spec, ANALYSED, folders=settings().roots)
        computations.jobs().start(job_key(run), f"Analyses of {run.spec.summary}", task, tuple(map(title, parts)))
    return not {WHOLE, str(CLUSTERS[0])} & set(missing) or not _active(run)


def follow(key: str) -> None:
    """Show how the analyses go, while they do."""
    if _active(run := cached.run(key)):
        computations.follow((job_key(run),))


def job_key(run: Run) -> str:
    """Of the job that analyses a run."""
    return f"{run.key}-{ANALYSED}"


def _active(run: Run) -> bool:
    job = computations.jobs().get(job_key(run))
    return job is not None and job.status().active
