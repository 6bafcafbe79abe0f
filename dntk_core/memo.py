"""A bounded memory of computed values, shared by threads."""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from dataclasses import fields, is_dataclass
from threading import Lock
from typing import Any

import numpy as np


def nbytes(value: Any) -> int:
    """Count the bytes of the arrays in a value: an array, or tuples and dataclasses of them.

    >>> nbytes((np.zeros(2), np.zeros(3)))
    40
    """
    if isinstance(value, np.ndarray):
        return value.nbytes
    if isinstance(value, tuple):
        return sum(nbytes(each) for each in value)
    if is_dataclass(value):
        return sum(nbytes(getattr(value, field.name)) for field in fields(value))
    return 0


class Memo:
    """Remember values by key, up to `limit` bytes, forgetting the one longest unused.

    Threads that ask for the same key at once wait for one computation; a failed one is not remembered.
    """

    def __init__(self, limit: int):
        self._limit = limit
        self._entries: OrderedDict[Hashable, Future] = OrderedDict()
        self._lock = Lock()

    def get(self, key: Hashable, compute: Callable[[], Any]) -> Any:
        """Return the value of a key, computing it if it is not remembered."""
        with self._lock:
            known = self._entries.get(key)
            future = known or self._entries.setdefault(key, Future())
            self._entries.move_to_end(key)
        if known is None:
            self._fill(key, future, compute)
        return future.result()

    def _fill(self, key: Hashable, future: Future, compute: Callable[[], Any]) -> None:
        try:
            future.set_result(compute())
        except BaseException as error:
            with self._lock:
                self._entries.pop(key, None)
            future.set_exception(error)
            return
        with self._lock:
            finished = [(key, nbytes(entry.result())) for key, entry in self._entries.items() if entry.done()]
            excess = sum(size for _, size in finished) - self._limit
            # The newest stays even if it alone is over the limit: someone is about to use it.
            for old, size in finished[:-1]:
                if excess <= 0:
                    break
                del self._entries[old]
                excess -= size
