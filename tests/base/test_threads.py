import os
import threading
import time
from threading import Barrier, Event

import numpy as np
import pytest
import scipy.linalg  # noqa: F401
from threadpoolctl import threadpool_info

from dntk_core.base import threads
from dntk_core.base.errors import DNTKError
from dntk_core.base.threads import each, free_cores, one_blas_thread


def blas_threads() -> set[int]:
    return {library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"}


@pytest.fixture
def two_cores(monkeypatch):
    monkeypatch.setattr(threads, "cores", lambda: 2)
    monkeypatch.setattr(threads, "_helpers", threading.BoundedSemaphore(1))


def test_blas_has_one_thread_until_the_last_one_is_out():
    before = blas_threads()
    entered, leave = Event(), Event()

    def other() -> None:
        with one_blas_thread:
            entered.set()
            leave.wait(60)

    thread = threading.Thread(target=other)
    with one_blas_thread:
        thread.start()
        assert entered.wait(60) and blas_threads() == {1}
    assert blas_threads() == {1}, "the other one is still inside"
    leave.set()
    thread.join()
    assert blas_threads() == before


def test_items_are_worked_on_side_by_side_and_come_back_in_order(two_cores):
    together = Barrier(2, timeout=60)

    def work(item: int) -> int:
        together.wait()
        return -item

    assert each(work, range(4)) == [0, -1, -2, -3]


def test_within_an_item_no_more_threads_are_started(two_cores):
    def inner(item: int) -> int:
        return threading.get_ident()

    for inside in each(lambda item: each(inner, range(3)), range(4)):
        assert len(set(inside)) == 1


def test_askers_that_wait_for_each_others_items_do_not_block(two_cores):
    """With every helper taken, the asker works alone."""
    first = Event()

    def asker() -> None:
        each(lambda item: first.wait(60), range(4))

    thread = threading.Thread(target=asker)
    thread.start()
    assert each(abs, range(-3, 0)) == [3, 2, 1]
    first.set()
    thread.join(60)
    assert not thread.is_alive()


def test_a_failure_is_raised_and_leaves_nothing_behind(two_cores):
    before = blas_threads()

    def fail(item: int) -> None:
        raise DNTKError(f"item {item}")

    for _ in range(3):
        with pytest.raises(DNTKError, match="item"):
            each(fail, range(5))
    assert blas_threads() == before
    assert each(abs, [-1, -2]) == [1, 2]


def test_products_are_those_of_a_plain_loop(two_cores):
    matrices = np.random.default_rng(0).standard_normal((5, 40, 40))
    for found, K in zip(each(np.linalg.eigvalsh, matrices @ matrices.mT), matrices, strict=True):
        np.testing.assert_allclose(found, np.linalg.eigvalsh(K @ K.T))


def test_a_busy_machine_has_no_free_core(monkeypatch):
    assert 1 <= free_cores() <= threads.cores()
    monkeypatch.setattr(threads, "cores", lambda: 4)
    monkeypatch.setattr(threads, "_LOOK_SECONDS", 0)
    for idle, free in ((0, 1), (50, 2), (100, 4)):
        counted = iter([(0, 0), (idle, 100), (idle, 100)])
        monkeypatch.setattr(threads, "ticks", lambda counted=counted: next(counted))
        monkeypatch.setattr(threads.os, "cpu_count", lambda: 4)
        assert free_cores() == free == free_cores((0, 0))


def test_what_this_process_uses_is_not_taken_from_it():
    (ours, total), end = threads.ticks(), time.process_time() + 0.3
    while time.process_time() < end:
        pass
    later, all_later = threads.ticks()
    assert later - ours >= 0.25 * os.sysconf("SC_CLK_TCK") and all_later >= total
