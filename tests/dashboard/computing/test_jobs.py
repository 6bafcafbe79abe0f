"""Jobs: one per key, visible progress, ended at any moment, resumed by starting again, errors as one sentence."""

import threading

import pytest
import streamlit as st

from dntk_core.base.errors import DNTKError, Unreadable
from dntk_core.base.progress import Progress
from dntk_core.base.spec import RunSpec
from dntk_core.dashboard.computing import computations
from dntk_core.dashboard.computing.jobs import Job, Jobs
from dntk_core.dashboard.computing.task import Task

TASK = Task(RunSpec.default())
PATIENCE = 300


class Scripted:
    """Stands for all processes: reports what it is given, an exception is raised, an Event waited for."""

    def __init__(self, *steps):
        self.steps, self.killed, self.performed, self.given = steps, threading.Event(), 0, 0

    def take(self):
        return self

    def give(self, worker):
        self.given += 1

    def perform(self, task):
        self.performed += 1
        for step in self.steps:
            if isinstance(step, threading.Event):
                step.wait(PATIENCE)
            if self.killed.is_set():
                raise DNTKError("its process ended before its time")
            if isinstance(step, BaseException):
                raise step
            if isinstance(step, Progress):
                yield step

    def kill(self):
        self.killed.set()
        for step in self.steps:
            if isinstance(step, threading.Event):
                step.set()


def finish(job):
    job.join(PATIENCE)
    return job.status()


def test_a_job_reports_stages_and_ends():
    steps = Scripted(Progress("data", 1, 1), Progress("features", 1, 2), Progress("features", 2, 2))
    status = finish(Jobs(steps).start("k", "run", TASK))
    assert status.state == "done" and steps.given == 1
    assert [stage for stage, _ in status.finished] == ["data", "features"]


def test_one_job_per_key():
    hold = threading.Event()
    steps = Scripted(hold)
    jobs = Jobs(steps)
    first, second = jobs.start("k", "run", TASK), jobs.start("k", "run", TASK)
    hold.set()
    finish(first)
    assert first is second and steps.performed == 1


def test_cancel_ends_the_worker_and_a_new_start_resumes():
    steps = Scripted(Progress("features", 1, 3), threading.Event(), Progress("features", 2, 3))
    job = Jobs(steps).start("k", "run", TASK)
    job.cancel()
    status = finish(job)
    assert status.state == "cancelled" and status.error == "" and steps.killed.is_set()
    # What has ended is not ended again: its worker may work for another job.
    steps.killed.clear()
    job.cancel()
    assert not steps.killed.is_set()
    assert finish(Jobs(Scripted(Progress("features", 3, 3))).start("k", "run", TASK)).state == "done"


def test_the_eta_extrapolates_this_stage_and_ignores_cached_steps():
    now = [100.0]
    job = Job("k", "run", TASK, clock=lambda: now[0])
    job._report(Progress("features", 40, 100))  # 40 shards were in the cache
    assert job.status().remaining is None
    now[0] += 10
    job._report(Progress("features", 60, 100))
    assert job.status().remaining == pytest.approx(20)
    now[0] += 5  # between two reports it counts down
    assert job.status().remaining == pytest.approx(15)


def test_the_eta_follows_steps_that_become_slower():
    now = [0.0]
    job = Job("k", "run", TASK, clock=lambda: now[0])
    for done in range(51):
        now[0] += 0.1
        job._report(Progress("selected", done, 100))
    assert job.status().remaining == pytest.approx(5)
    for done in range(51, 61):  # another selection, twenty times slower
        now[0] += 2
        job._report(Progress("selected", done, 100))
    assert job.status().remaining == pytest.approx(80)
    now[0] += 10  # a step that takes still longer
    assert job.status().remaining == pytest.approx(390)


def test_the_eta_stands_firm_where_reports_come_in_bursts():
    now, found = [0.0], []
    job = Job("k", "run", TASK, clock=lambda: now[0])
    for done in range(1, 601):  # ten steps a second, heard of thirty at a time
        now[0] = done // 30 * 3.0
        job._report(Progress("distilled", done, 1000))
        found.append(job.status().remaining)
    left = [100 - done / 10 for done in range(1, 601)]
    assert all(abs(eta - true) <= 0.25 * true for eta, true in list(zip(found, left, strict=True))[200:])


def test_the_time_until_a_stage_first_reports_belongs_to_that_stage():
    now = [0.0]
    job = Job("k", "run", TASK, clock=lambda: now[0])
    for seconds, event in (
        (2, Progress("inputs", 1, 1)),
        (10, Progress("features", 1, 2)),
        (1, Progress("kernels", 1, 1)),
    ):
        now[0] += seconds
        job._report(event)
    assert job.status().finished == (("inputs", 2.0), ("features", 10.0))


@pytest.mark.parametrize(
    ("error", "shown"),
    [
        (DNTKError("k must be at least 1, got 0"), "k must be at least 1, got 0"),
        (KeyError("secret"), "server's log"),
        (SystemExit(3), "server's log"),
    ],
)
def test_whatever_ends_a_job_is_one_sentence(error, shown):
    status = finish(Jobs(Scripted(error)).start("k", "run", TASK))
    assert status.state == "failed" and shown in status.error and "secret" not in status.error


def test_a_running_job_is_not_forgotten():
    hold = threading.Event()
    jobs = Jobs(Scripted(hold))
    job = jobs.start("k", "run", TASK)
    jobs.forget("k")
    assert jobs.get("k") is job
    hold.set()
    finish(job)
    jobs.forget("k")
    assert jobs.get("k") is None


def test_jobs_outlive_a_browser_that_asks_for_cleared_caches():
    before = computations.jobs()
    st.cache_resource.clear()
    assert computations.jobs() is before


def test_a_run_that_cannot_be_read_now_is_not_computed_anew(monkeypatch):
    def unreadable(key):
        raise Unreadable("too many open files")

    monkeypatch.setattr(computations.cached, "run", unreadable)
    with pytest.raises(Unreadable):
        computations.available(RunSpec.default().key)
    assert computations.jobs().get(RunSpec.default().key) is None
