"""Processes for jobs, seen from the server: one for each, killed at any moment; one waits for the next job."""

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from dntk_core.base.errors import DNTKError
from dntk_core.base.progress import Progress
from dntk_core.dashboard.computing.task import Task

_CHILD = "dntk_core.dashboard.computing.child"
_PACKAGE = str(Path(__file__).resolve().parents[3])


class Worker:
    """A process that performs one task at a time; it ends with this one, however that ends."""

    def __init__(self):
        path = os.pathsep.join(filter(None, (_PACKAGE, os.environ.get("PYTHONPATH", ""))))
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", _CHILD],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ | {"PYTHONPATH": path},
            # A group of its own: whatever it starts is killed with it.
            start_new_session=True,
        )

    @property
    def alive(self) -> bool:
        return self._process.poll() is None

    def perform(self, task: Task) -> Iterator[Progress]:
        """Let the process perform a task; yields what it reports, raises DNTKError if it fails or is killed."""
        assert self._process.stdin is not None and self._process.stdout is not None
        # One that was killed already reads nothing.
        with suppress(BrokenPipeError):
            self._process.stdin.write(f"{task.to_json()}\n")
            self._process.stdin.flush()
        for line in self._process.stdout:
            message = json.loads(line)
            if "ended" not in message:
                yield Progress(**message)
            elif message["ended"]:
                raise DNTKError(message["ended"])
            else:
                return
        raise DNTKError(_ended_by(self._process.wait()))

    def kill(self) -> None:
        """End the process at once; what it has finished is in the cache."""
        if self.alive:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)


def _ended_by(code: int) -> str:
    """Why a process may have ended without a word."""
    why = f"exit code {code}" if code >= 0 else signal.strsignal(-code)
    memory = "; memory may have run out" if code == -signal.SIGKILL else ""
    return f"the computation's process ended before its time ({why}{memory}); what is finished is kept: resume it"


class Workers:
    """Processes for all jobs; one that is done waits for the next job, which then begins at once."""

    def __init__(self):
        self._lock = threading.Lock()
        self._waiting: Worker | None = None

    def take(self) -> Worker:
        """The one that waits, or a new one."""
        with self._lock:
            worker, self._waiting = self._waiting, None
        return worker if worker is not None and worker.alive else Worker()

    def give(self, worker: Worker) -> None:
        """Let a process wait, or a new one in its stead if it was killed; one is enough."""
        with self._lock:
            if self._waiting is None:
                self._waiting = worker if worker.alive else Worker()
                return
        worker.kill()


workers = Workers()


def perform(task: Task) -> None:
    """Perform a task in a process and wait for it."""
    worker = workers.take()
    try:
        for _ in worker.perform(task):
            pass
    finally:
        workers.give(worker)
