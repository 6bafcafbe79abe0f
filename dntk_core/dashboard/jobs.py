"""Background computation: one job per key, seen by every session, cancelled on request, resumed by starting again."""

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from dntk_core.base.errors import Cancelled, DNTKError
from dntk_core.base.progress import Progress, Report

log = logging.getLogger(__name__)

Work = Callable[[Report], object]


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
    """One computation in its own thread; `stages` are those it will report, in order."""

    key: str
    title: str
    work: Work
    stages: tuple[str, ...] = ()
    clock: Callable[[], float] = time.monotonic
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _stop: threading.Event = field(default_factory=threading.Event)

    def __post_init__(self):
        self._began = self._heard = self._stage_began = self._first_heard = self.clock()
        self._ended: float | None = None
        self._state, self._error = "running", ""
        self._event: Progress | None = None
        self._first_done = 0
        self._finished: list[tuple[str, float]] = []
        self._thread = threading.Thread(target=self._run, name=f"job-{self.key}", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def cancel(self) -> None:
        """Ask the job to stop at its next step."""
        self._stop.set()

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
        """Extrapolate the current stage; steps found in the cache at its start do not count."""
        event = self._event
        if event is None or event.done <= self._first_done:
            return None
        pace = (self._heard - self._first_heard) / (event.done - self._first_done)
        return max(0.0, pace * (event.total - event.done) - (now - self._heard))

    def _report(self, event: Progress) -> None:
        if self._stop.is_set():
            raise Cancelled
        with self._lock:
            now = self.clock()
            if self._event is None or event.stage != self._event.stage:
                self._close_stage()
                self._first_heard, self._first_done = now, event.done
            self._event, self._heard = event, now

    def _close_stage(self) -> None:
        """A step is reported when it is done: a stage ends with its last report, and the next begins there."""
        if self._event is not None:
            self._finished.append((self._event.stage, self._heard - self._stage_began))
            self._stage_began = self._heard

    def _run(self) -> None:
        try:
            self.work(self._report)
            self._end("done")
        except Cancelled:
            self._end("cancelled")
        except DNTKError as error:
            self._end("failed", str(error))
        except Exception:
            log.exception("job %s failed", self.key)
            self._end("failed", "The computation failed unexpectedly; the server's log has the details.")

    def _end(self, state: str, error: str = "") -> None:
        with self._lock:
            if state == "done":
                self._close_stage()
            self._state, self._error, self._ended = state, error, self.clock()


class Jobs:
    """All jobs of this server by key."""

    def __init__(self):
        self._jobs: dict[str, Job] = {}
        self._lock = threading.Lock()

    def start(self, key: str, title: str, work: Work, stages: tuple[str, ...] = ()) -> Job:
        """Start a job, or return the one already running under `key`."""
        with self._lock:
            job = self._jobs.get(key)
            if job is None or not job.status().active:
                job = self._jobs[key] = Job(key, title, work, stages)
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
