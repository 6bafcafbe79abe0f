"""Jobs: one per key, visible progress, cancel at the next step, resume, errors as one sentence."""

import threading

import pytest

from dntk_core.base.errors import DNTKError
from dntk_core.base.progress import Progress
from dntk_core.dashboard.jobs import Job, Jobs


def finish(job):
    job.join(5)
    return job.status()


def test_a_job_reports_stages_and_ends():
    def work(report):
        report(Progress("data", 1, 1))
        report(Progress("features", 1, 2))
        report(Progress("features", 2, 2))

    status = finish(Jobs().start("k", "run", work))
    assert status.state == "done"
    assert [stage for stage, _ in status.finished] == ["data", "features"]


def test_one_job_per_key():
    hold, jobs, calls = threading.Event(), Jobs(), []

    def work(report):
        calls.append(1)
        hold.wait(5)

    first, second = jobs.start("k", "run", work), jobs.start("k", "run", work)
    hold.set()
    finish(first)
    assert first is second and len(calls) == 1


def test_cancel_stops_at_the_next_step_and_a_new_start_resumes():
    shards, started, jobs = [], threading.Event(), Jobs()

    def work(report):
        while len(shards) < 3:
            report(Progress("features", len(shards), 3))
            shards.append(1)
            started.set()
            if len(shards) == 1:
                cancelled.wait(5)

    cancelled = threading.Event()
    job = jobs.start("k", "run", work)
    started.wait(5)
    job.cancel()
    assert job.status().state == "cancelling"
    cancelled.set()
    assert finish(job).state == "cancelled"
    assert len(shards) == 1
    assert finish(jobs.start("k", "run", work)).state == "done"
    assert len(shards) == 3


def test_the_eta_extrapolates_this_stage_and_ignores_cached_steps():
    now = [100.0]
    job = Job("k", "run", lambda report: None, clock=lambda: now[0])
    job._report(Progress("features", 40, 100))  # 40 shards were in the cache
    assert job.status().remaining is None
    now[0] += 10
    job._report(Progress("features", 60, 100))
    assert job.status().remaining == pytest.approx(20)
    now[0] += 5  # between two reports it counts down
    assert job.status().remaining == pytest.approx(15)


def test_the_time_until_a_stage_first_reports_belongs_to_that_stage():
    now = [0.0]
    job = Job("k", "run", lambda report: None, clock=lambda: now[0])
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
    [(DNTKError("k must be at least 1, got 0"), "k must be at least 1, got 0"), (KeyError("secret"), "server's log")],
)
def test_errors_are_one_sentence(error, shown):
    def work(report):
        raise error

    status = finish(Jobs().start("k", "run", work))
    assert status.state == "failed" and shown in status.error and "secret" not in status.error


def test_a_running_job_is_not_forgotten():
    hold, jobs = threading.Event(), Jobs()
    job = jobs.start("k", "run", lambda report: hold.wait(5))
    jobs.forget("k")
    assert jobs.get("k") is job
    hold.set()
    finish(job)
    jobs.forget("k")
    assert jobs.get("k") is None
