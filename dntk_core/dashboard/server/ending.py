"""A server that is told to end does, whatever is open, unread or still computed."""

import os
import signal
import threading
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from queue import SimpleQueue
from types import FrameType

# Seconds for answers that are on their way.
GRACE = 1.0


@asynccontextmanager
async def ends_when_told(app: object) -> AsyncIterator[None]:
    """Live as long as the app, and end the process at most GRACE after SIGINT or SIGTERM.

    Left to itself the server waits until every answer is read and every page's script is over. Nothing is lost: what
    the cache gets appears there whole or not at all.
    """
    # Of all that wakes another thread, only this may be used while a signal interrupts itself.
    signals: SimpleQueue[int] = SimpleQueue()
    if threading.current_thread() is threading.main_thread():
        for number in (signal.SIGINT, signal.SIGTERM):
            _also(number, signals)
        threading.Thread(target=_end, args=[signals], name="ending", daemon=True).start()
    yield


def _also(number: int, signals: SimpleQueue[int]) -> None:
    """Tell the thread that waits, beside what the signal did before."""
    before = signal.getsignal(number)

    def handle(number: int, frame: FrameType | None) -> None:
        signals.put(number)
        if callable(before):
            before(number, frame)

    signal.signal(number, handle)


def _end(signals: SimpleQueue[int]) -> None:
    signals.get()
    time.sleep(GRACE)
    os._exit(0)
