"""Background computation: one job per key, seen by every session, cancelled on request, resumed by starting again."""

import logging
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

from dntk_core.base.errors import DNTKError
from dntk_core.base.progress import Progress
from dntk_core.dashboard.computing.child import UNEXPECTED
from dntk_core.dashboard.computing.task import Task
from dntk_core.dashboard.computing.worker import Worker, Workers, workers

log = logging.getLogger(__name__)

# Steps whose pace is taken for that of the steps to come.
_PACE = 9
# Seconds between moments at which a pace is taken, and within which reports are one burst.
_APART, _BURST = 0.5, 0.05


@dataclass(frozen=True)
class Status:
    """What a job is doing; `remaining` is the time this stage still needs, None while unknown."""

    state: str  # running, cancelling, cancelled, failed, done
    event: Progress | None
    finished: tuple[tuple[str, float], ...]  # (stage, seconds), in order
    elapsed: float
    remaining: float | None
    error: str = ""

    @property
    def active(self) -> bool:
        return self.state in ("running", "cancelling")


@dataclass
class Job:
    """One computation, followed by a thread; `stages` are those it will report, in order."""

    key: str
    title: str
    task: Task
    stages: tuple[str, ...] = ()
    workers: Workers = workers
    clock: Callable[[], float] = time.monotonic
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _stop: threading.Event = field(default_factory=threading.Event)

    def __post_init__(self):
        self._began = self._heard = self._stage_began = self.clock()
        self._ended: float | None = None
        self._state, self._error = "running", ""
        self._event: Progress | None = None
        # When the last steps of this stage were heard of, and how many were done then.
        self._steps: deque[tuple[float, int]] = deque([(self._began, 0)], maxlen=_PACE)
        self._finished: list[tuple[str, float]] = []
        self._worker: Worker | None = None
        self._thread = threading.Thread(target=self._run, name=f"job-{self.key}", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def cancel(self) -> None:
        """Stop the job at once, whatever it is doing."""
        with self._lock:
            self._stop.set()
            if self._worker is not None:
                self._worker.kill()

    def join(self, timeout: float | None = None) -> None:
        """Wait for the job to end."""
        self._thread.join(timeout)

    def status(self) -> Status:
        """A consistent picture of this moment."""
        with self._lock:
            now = self._ended or self.clock()
            state = "cancelling" if self._state == "running" and self._stop.is_set() else self._state
            return Status(
                state, self._event, tuple(self._finished), now - self._began, self._remaining(now), self._error
            )

    def _remaining(self, now: float) -> float | None:
        """Extrapolate the current stage by its last steps; those found in the cache at its start do not count.

        Steps may become slower: a report that is overdue says how long they take now.
        """
        event, (first_heard, first_done) = self._event, self._steps[0]
        if event is None or event.done <= first_done:
            return None
        waited, at_once = now - self._heard, max(1, event.done - self._steps[-2][1])
        pace = max((self._heard - first_heard) / (event.done - first_done), waited / at_once)
        return max(0.0, pace * (event.total - event.done) - waited)

    def _report(self, event: Progress) -> None:
        with self._lock:
            now = self.clock()
            if self._event is None or event.stage != self._event.stage:
                self._close_stage()
                self._steps.clear()
            # Reports may come in bursts: a pace is taken over moments that lie apart.
            if len(self._steps) > 1 and (now - self._steps[-2][0] < _APART or now - self._steps[-1][0] < _BURST):
                self._steps.pop()
            self._steps.append((now, event.done))
            self._event, self._heard = event, now

    def _close_stage(self) -> None:
        """A step is reported when it is done: a stage ends with its last report, and the next begins there."""
        if self._event is not None:
            self._finished.append((self._event.stage, self._heard - self._stage_began))
            self._stage_began = self._heard

    def _run(self) -> None:
        worker = self._begun()
        try:
            for event in worker.perform(self.task):
                self._report(event)
            self._end("done")
        except DNTKError as error:
            self._end(*(("cancelled",) if self._stop.is_set() else ("failed", str(error))))
        # A job that nobody waits for must not end without a word, whatever ends it.
        except BaseException:
            log.exception("job %s failed", self.key)
            worker.kill()
            self._end("failed", UNEXPECTED)
        self.workers.give(worker)

    def _begun(self) -> Worker:
        """A worker; killed already if the job was cancelled while it was started."""
        worker = self.workers.take()
        with self._lock:
            self._worker = worker
            if self._stop.is_set():
                worker.kill()
        return worker

    def _end(self, state: str, error: str = "") -> None:
        with self._lock:
            if state == "done":
                self._close_stage()
            # From now on it may work for another job.
            self._worker = None
            self._state, self._error, self._ended = state, error, self.clock()


class Jobs:
    """All jobs of this server by key."""

    def __init__(self, workers: Workers = workers):
        self._jobs: dict[str, Job] = {}
        self._lock = threading.Lock()
        self._workers = workers

    def start(self, key: str, title: str, task: Task, stages: tuple[str, ...] = ()) -> Job:
        """Start a job, or return the one already running under `key`."""
        with self._lock:
            job = self._jobs.get(key)
            if job is None or not job.status().active:
                job = self._jobs[key] = Job(key, title, task, stages, self._workers)
                job.start()
            return job

    def get(self, key: str) -> Job | None:
        """The last job under `key`."""
        return self._jobs.get(key)

    def all(self) -> list[Job]:
        """Every job, oldest first."""
        with self._lock:
            return list(self._jobs.values())

    def forget(self, key: str) -> None:
        """Drop a job that has ended."""
        with self._lock:
            job = self._jobs.get(key)
            if job is not None and not job.status().active:
                del self._jobs[key]
