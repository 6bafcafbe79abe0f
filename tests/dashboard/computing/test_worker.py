"""Real processes for jobs: they compute, are killed at any moment, end with the server, and fail in one sentence."""

import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from dntk_core.base.errors import DNTKError
from dntk_core.base.progress import ignore
from dntk_core.base.spec import DataSpec, InputSpec, ModelSpec, ProjectionSpec, RunSpec
from dntk_core.cache.locks import locked
from dntk_core.cache.store import Store
from dntk_core.dashboard.computing.jobs import Jobs
from dntk_core.dashboard.computing.task import Task
from dntk_core.dashboard.computing.worker import Workers
from dntk_core.run.pipeline import open_run
from dntk_core.run.series import Series, keep_series

SPEC = RunSpec(model=ModelSpec(epochs=0), inputs=InputSpec(20, 20), projection=ProjectionSpec(k=64))
PATIENCE = 300


@pytest.fixture(scope="module")
def workers():
    """Processes of this file: one is loaded once and used again."""
    found = Workers()
    yield found
    found.take().kill()


def until(holds, seconds=PATIENCE):
    """Wait for something that will happen, however busy the machine is."""
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.01)


def test_a_task_is_one_line_of_text(tmp_path):
    task = Task(SPEC, "shifts", "", (tmp_path, Path("/data")), tmp_path)
    assert "\n" not in task.to_json() and Task.from_json(task.to_json()) == task


def test_every_checkpoint_of_a_series_must_lie_below_the_owners_folders(tmp_path, monkeypatch):
    monkeypatch.setenv("DNTK_CACHE_DIR", str(tmp_path / "cache"))
    elsewhere = replace(SPEC, model=ModelSpec("resnet18", weights=str(tmp_path / "a.safetensors"), epochs=0))
    (tmp_path / "a.safetensors").write_bytes(b"")
    keep_series(series := Series(("a", "b"), (0.0, 1.0), (elsewhere, SPEC)))
    with pytest.raises(DNTKError, match=r"does not lie below .* compute this run on the command line"):
        Task(SPEC, series=series.key).perform(ignore)


def test_a_job_computes_in_a_process_and_the_next_begins_in_the_same(tmp_path, workers):
    job = Jobs(workers).start("k", "run", Task(SPEC, cache=tmp_path), SPEC.stages)
    job.join(PATIENCE)
    status = job.status()
    assert (status.state, status.error) == ("done", "") and status.finished[0][0] == "data"
    assert len(open_run(SPEC.key, Store(tmp_path)).targets) == 20
    process = workers.take()
    workers.give(process)
    events = [*process.perform(Task(replace(SPEC, projection=ProjectionSpec(k=32)), cache=tmp_path))]
    assert {event.stage for event in events} >= {"data", "features"}
    # What goes wrong is told by its sentence, and the process lives on.
    elsewhere = replace(SPEC, data=DataSpec("folder", str(tmp_path)))
    with pytest.raises(DNTKError, match=r"does not lie below .* compute this run on the command line"):
        [*process.perform(Task(elsewhere, cache=tmp_path))]
    assert process.alive


def stopped(job) -> int:
    """Stop a job's process, so that it hears nothing, as in a call that never returns: its number."""
    until(lambda: job.status().event is not None)
    number = job._worker._process.pid
    os.kill(number, signal.SIGSTOP)
    return number


def test_cancel_ends_a_process_that_hears_nothing_and_what_was_finished_is_used_again(tmp_path, workers):
    long, jobs = replace(SPEC, model=ModelSpec(epochs=10**5)), Jobs(workers)
    job = jobs.start("k", "run", Task(long, cache=tmp_path), long.stages)
    number = stopped(job)
    job.cancel()
    job.join(PATIENCE)
    assert job.status().state == "cancelled"
    # It is gone, its locks with it, and another one waits in its stead.
    with pytest.raises(ProcessLookupError):
        os.kill(number, 0)
    assert not any(Store(tmp_path).under_way(stage, long.stage_key(stage)) for stage in long.stages)
    assert workers._waiting is not None and workers._waiting.alive


def test_cancel_ends_a_job_that_waits_for_another_processes_lock(tmp_path, workers):
    Store(tmp_path).load_or_build("x", "y", "{}", lambda bench: ({}, {}))
    with locked(tmp_path / "locks" / f"model-{SPEC.stage_key('model')}.lock", wait=False):
        job = Jobs(workers).start("k", "run", Task(SPEC, cache=tmp_path), SPEC.stages)
        until(lambda: job.status().event is not None)
        job.cancel()
        job.join(PATIENCE)
    assert job.status().state == "cancelled"


def test_a_process_that_dies_fails_its_job_in_one_sentence(tmp_path, workers):
    long = replace(SPEC, model=ModelSpec(epochs=10**5))
    job = Jobs(workers).start("k", "run", Task(long, cache=tmp_path), long.stages)
    os.kill(stopped(job), signal.SIGKILL)
    job.join(PATIENCE)
    status = job.status()
    assert status.state == "failed" and "memory may have run out" in status.error and "resume" in status.error


def test_a_process_ends_with_the_server_that_started_it():
    code = "from dntk_core.dashboard.computing.worker import Worker as W; w = W(); print(w._process.pid, flush=True)"
    with subprocess.Popen(
        [sys.executable, "-c", f"{code}; input()"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as server:
        number = int(server.stdout.readline())
        os.kill(number, 0)
        server.kill()
    until(lambda: not Path(f"/proc/{number}").exists() or "State:\tZ" in Path(f"/proc/{number}/status").read_text())
