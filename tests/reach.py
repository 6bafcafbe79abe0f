"""Which lines of a parser were run: inputs that never get past its first line prove nothing."""

import inspect
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import CodeType, FrameType
from typing import Any

Line = tuple[str, int]


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from _codes(inner)


class Reach:
    """The lines of some functions, and those among them that were run while it was watching."""

    def __init__(self, functions: tuple[Callable, ...]):
        plain = [inspect.unwrap(getattr(function, "__func__", function)) for function in functions]
        self._codes = {code for function in plain for code in _codes(function.__code__)}
        self.lines: set[Line] = {
            (code.co_filename, line)
            for code in self._codes
            for *_, line in code.co_lines()
            if line and line > code.co_firstlineno
        }
        self.seen: set[Line] = set()

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Note the lines that this thread runs."""
        before = sys.gettrace()
        sys.settrace(self._enter)
        try:
            yield
        finally:
            sys.settrace(before)

    @property
    def missed(self) -> list[Line]:
        """Lines that were never run."""
        return sorted(self.lines - self.seen)

    @property
    def share(self) -> float:
        return len(self.lines & self.seen) / len(self.lines)

    def _enter(self, frame: FrameType, event: str, argument: Any) -> Callable | None:
        return self._line if frame.f_code in self._codes else None

    def _line(self, frame: FrameType, event: str, argument: Any) -> Callable:
        self.seen.add((frame.f_code.co_filename, frame.f_lineno))
        return self._line
