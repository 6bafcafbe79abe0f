import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from dntk_core.base.memo import Memo


def test_many_threads_compute_a_value_once():
    memo, gate, calls = Memo(10**6), threading.Event(), []

    def compute():
        gate.wait(60)
        calls.append(1)
        return np.zeros(3)

    with ThreadPoolExecutor(8) as pool:
        waiting = [pool.submit(memo.get, "key", compute) for _ in range(8)]
        gate.set()
        values = [each.result(60) for each in waiting]
    assert len(calls) == 1
    assert all(value is values[0] for value in values)


def test_the_longest_unused_is_forgotten_first():
    memo, calls = Memo(3 * 80), []

    def ask(key):
        return memo.get(key, lambda: calls.append(key) or np.zeros(10))

    for key in "abcaad":
        ask(key)
    assert calls == list("abcd")
    ask("a")
    assert calls == list("abcd")
    ask("b")
    assert calls == list("abcdb")


def test_large_values_do_not_push_out_small_ones():
    memo, calls = Memo(3 * 10**5), []

    def ask(key, size):
        return memo.get(key, lambda: calls.append(key) or np.zeros(size, np.uint8))

    ask("small", 1000)
    for key in "abcd":
        ask(key, 10**5)
    ask("small", 1000)
    assert calls == ["small", *"abcd"]
    # But nothing stays for ever.
    for i in range(500):
        ask(i, 1000)
    ask("small", 1000)
    assert calls[-1] == "small"


def test_a_value_over_the_limit_is_still_returned():
    memo = Memo(8)
    assert len(memo.get("large", lambda: np.zeros(100))) == 100


def test_a_failure_is_raised_and_tried_again():
    memo = Memo(100)

    def fail():
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        memo.get("key", fail)
    assert memo.get("key", lambda: 3) == 3
