"""A bounded memory of computed values, shared by threads."""

from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping
from concurrent.futures import Future
from dataclasses import fields, is_dataclass
from threading import Lock
from typing import Any


def nbytes(value: Any) -> int:
    """Count the bytes of the arrays in a value: an array, or tuples, mappings and dataclasses of them.

    >>> import numpy as np
    >>> nbytes((np.zeros(2), np.zeros(3)))
    40
    """
    if isinstance(size := getattr(value, "nbytes", None), int):
        return size
    if isinstance(value, tuple):
        return sum(map(nbytes, value))
    if isinstance(value, Mapping):
        return sum(map(nbytes, value.values()))
    if is_dataclass(value):
        return sum(nbytes(getattr(value, field.name)) for field in fields(value))
    return 0


# Bytes that any value counts for beside its arrays where one is to be forgotten.
ENTRY = 1000


class Memo:
    """Remember values by key, up to `limit` bytes, forgetting those longest unused, large ones sooner than small ones.

    Threads that ask for the same key at once wait for one computation; a failed one is not remembered.
    """

    def __init__(self, limit: int):
        self._limit = limit
        self._values: OrderedDict[Hashable, Future] = OrderedDict()
        self._sizes: dict[Hashable, int] = {}
        self._lock = Lock()

    def get(self, key: Hashable, compute: Callable[[], Any]) -> Any:
        """Return the value of a key, computing it if it is not remembered."""
        with self._lock:
            known = self._values.get(key)
            future = known or self._values.setdefault(key, Future())
            self._values.move_to_end(key)
        if known is None:
            self._fill(key, future, compute)
        return future.result()

    def _fill(self, key: Hashable, future: Future, compute: Callable[[], Any]) -> None:
        try:
            value = compute()
        except BaseException as error:
            with self._lock:
                del self._values[key]
            future.set_exception(error)
            return
        future.set_result(value)
        with self._lock:
            self._sizes[key] = nbytes(value)
            self._forget(keep=key)

    def _forget(self, keep: Hashable) -> None:
        # The newest stays even if it alone is over the limit: someone is about to use it.
        excess = sum(self._sizes.values()) - self._limit
        while excess > 0 and (known := [key for key in self._values if key in self._sizes and key != keep]):
            # One large value is not to push out a hundred small ones, which may have taken as long to compute.
            held = {key: (self._sizes[key] + ENTRY) * (len(known) - i) for i, key in enumerate(known)}
            key = max(known, key=held.__getitem__)
            del self._values[key]
            excess -= self._sizes.pop(key)
