"""How numerics share the processor: one BLAS thread each, several of them side by side where cores are free.

BLAS threads wait for each other inside every product. On small matrices, or beside other busy programs, that costs many
times what it saves; classes and settings are independent, so their threads need not wait.
"""

import os
import time
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from threading import BoundedSemaphore, Lock, Thread, local
from typing import TypeVar

from threadpoolctl import LibController, OpenBLASController, ThreadpoolController

Item = TypeVar("Item")
Result = TypeVar("Result")

# Long enough to tell a busy core from an idle one, short beside any stage.
_LOOK_SECONDS = 0.1


def ticks() -> tuple[float, int]:
    """Clock ticks of all cores so far: those that others leave to us, idle or used by this process, and all of them.

    Both are 0 where Linux does not count them.
    """
    try:
        kinds = [int(word) for word in Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:9]]
    except OSError:
        return 0, 0
    own = time.process_time() * os.sysconf("SC_CLK_TCK")
    # Idle, and idle while a disk is waited for.
    return kinds[3] + kinds[4] + own, sum(kinds)


def _quota() -> int:
    """Cores that the container may use; without a limit, very many."""
    try:
        quota, period = Path("/sys/fs/cgroup/cpu.max").read_text().split()
        return max(1, int(quota) // int(period)) if quota != "max" else 2**16
    except (OSError, ValueError):
        return 2**16


@cache
def cores() -> int:
    """How many cores this process may use: its affinity, its container's quota, OMP_NUM_THREADS; at least 1."""
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    asked = os.environ.get("OMP_NUM_THREADS", "")
    limits = [allowed, _quota(), int(asked) if asked.isdigit() and int(asked) else allowed]
    return max(1, min(limits))


def free_cores(since: tuple[float, int] | None = None) -> int:
    """How many of them nobody else has used since then, or uses just now; at least 1."""
    if cores() == 1:
        return 1
    if since is None:
        since = ticks()
        time.sleep(_LOOK_SECONDS)
    ours, total = (late - early for late, early in zip(ticks(), since, strict=True))
    share = ours / total if total else 1.0
    return max(1, min(cores(), round(share * (os.cpu_count() or 1))))


# How deep this thread is inside `one_blas_thread`, and whether inside `each`.
_here = local()


class _OneThread:
    """One BLAS thread while anybody is inside: the limit holds for the whole process, so the last one out lifts it."""

    def __init__(self):
        self._lock, self._inside = Lock(), 0
        self._before: list[int] = []

    def __enter__(self) -> None:
        _here.depth = getattr(_here, "depth", 0) + 1
        if _here.depth > 1:
            return
        with self._lock:
            if self._inside == 0:
                self._before = [library.get_num_threads() or 1 for library in _blas()]
            # Also when others are inside: where BLAS uses OpenMP, each thread has a limit of its own.
            _limit([1] * len(self._before))
            self._inside += 1

    def __exit__(self, *failure: object) -> None:
        _here.depth -= 1
        if _here.depth > 0:
            return
        with self._lock:
            self._inside -= 1
            if self._inside == 0:
                _limit(self._before)


def _limit(threads: Iterable[int]) -> None:
    # Otherwise only the thread that was first to set a limit could set another; here whoever holds the lock may.
    OpenBLASController.clear_controlling_thread(force=True)
    for library, count in zip(_blas(), threads, strict=True):
        library.set_num_threads(count)


one_blas_thread = _OneThread()


@cache
def _blas() -> list[LibController]:
    # NumPy and SciPy each bring one of their own; both must be loaded before they are looked for.
    import scipy.linalg  # noqa: F401

    return ThreadpoolController().select(user_api="blas").lib_controllers


# Beside the threads that ask, in the whole process.
_helpers = BoundedSemaphore(max(1, cores() - 1))


def each(function: Callable[[Item], Result], items: Iterable[Item]) -> list[Result]:
    """Apply a function to every item, in order of the items, helped by as many threads as there are cores for all.

    The asking thread works itself and so never waits for a helper to begin: askers cannot block each other, and inside
    another `each` it works alone. The first failure is raised once no item is under way.
    """
    todo = list(items)
    queue, lock = iter(enumerate(todo)), Lock()
    results: dict[int, Result] = {}
    failures: list[BaseException] = []

    def work() -> None:
        _here.inside = True
        try:
            with one_blas_thread:
                while not failures:
                    with lock:
                        taken = next(queue, None)
                    if taken is None:
                        return
                    place, item = taken
                    results[place] = function(item)
        except BaseException as error:
            failures.append(error)
        finally:
            _here.inside = False

    def help_out() -> None:
        try:
            work()
        finally:
            _helpers.release()

    if len(todo) < 2 or getattr(_here, "inside", False):
        return [function(item) for item in todo]
    helpers = []
    while len(helpers) < min(cores(), len(todo)) - 1 and _helpers.acquire(blocking=False):
        helpers.append(Thread(target=help_out, daemon=True))
        helpers[-1].start()
    work()
    for helper in helpers:
        helper.join()
    if failures:
        raise failures[0]
    return [results[place] for place in range(len(todo))]
