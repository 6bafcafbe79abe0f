"""Progress bars with the time left for a terminal; one line per stage where there is none."""

import sys
import time
from collections.abc import Callable
from typing import TextIO

from dntk_core.base.progress import Progress

WIDTH = 28
# Columns of a notebook's one line.
LINE = 96
UNITS = ("B", "KiB", "MiB", "GiB")


class Bar:
    """Draw one line per stage: name, bar, share done, time left.

    notebook: whether a notebook shows the stream, where one line is drawn over and over
    """

    def __init__(
        self, stream: TextIO = sys.stderr, clock: Callable[[], float] = time.monotonic, notebook: bool = False
    ):
        self.stream, self.clock, self.notebook = stream, clock, notebook
        self.stage, self.started, self.first = "", 0.0, 0
        self.last: Progress | None = None

    def __call__(self, event: Progress) -> None:
        # Who shares work with others may hear of its end twice.
        if event == self.last:
            return
        self.last = event
        if event.stage != self.stage:
            # Steps already in the cache come at once; the rate counts from the first event on.
            self.stage, self.started, self.first = event.stage, self.clock(), event.done
        if self.notebook:
            self.stream.write(f"\r{self.line(event):<{LINE}}")
        elif self.stream.isatty():
            end = "\n" if event.done == event.total else ""
            self.stream.write(f"\r\033[K{self.line(event)}{end}")
        elif event.done == event.total:
            note = f", {event.note}" if event.note else ""
            self.stream.write(f"{event.stage}: {event.total} of {event.total}{note}\n")
        self.stream.flush()

    def line(self, event: Progress) -> str:
        """The bar as text."""
        filled = WIDTH * event.done // max(event.total, 1)
        left = self.eta(event)
        return (
            f"{event.stage:>9} {'█' * filled}{'·' * (WIDTH - filled)} {event.done}/{event.total}"
            f"{f'  {duration(left)} left' if left else ''}{f'  {event.note}' if event.note else ''}"
        )

    def eta(self, event: Progress) -> float:
        """Seconds left at the rate since the stage's first event; 0 while unknown."""
        steps = event.done - self.first
        return (self.clock() - self.started) / steps * (event.total - event.done) if steps else 0.0


def bar() -> Bar:
    """The progress bar for wherever this Python runs: a notebook, a terminal, a file."""
    return Bar(sys.stdout, notebook=True) if in_notebook() else Bar(sys.stderr)


def in_notebook() -> bool:
    """Whether this Python runs the cells of a notebook."""
    ipython = sys.modules.get("IPython")
    return ipython is not None and hasattr(ipython.get_ipython(), "kernel")


def duration(seconds: float) -> str:
    """Write a time span for people.

    >>> duration(7.2), duration(754)
    ('7 s', '12 min 34 s')
    """
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


def size(count: int) -> str:
    """Write a number of bytes for people.

    >>> size(122812050)
    '117.1 MiB'
    """
    power = min((count.bit_length() - 1) // 10, 3) if count else 0
    return f"{count / 1024**power:.1f} {UNITS[power]}" if power else f"{count} B"
