"""Figures ahead of Streamlit: while a slider moves, the browser asks for those of its new value and draws them itself.

A run of a page's script sends and renders every element anew. What a slider changes most are figures, and a page can
make those for any view (`page.follow`). So the browser fetches them at once, and Streamlit's run, which follows when
the slider has said its value, finds them drawn. While all rests, it fetches those of the next values, too.
"""

import logging
import secrets
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from threading import Lock
from time import monotonic
from weakref import WeakKeyDictionary, WeakValueDictionary

import streamlit as st
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from dntk_core.base.threads import one_blas_thread
from dntk_core.dashboard.drawing.navigation import base_path

log = logging.getLogger(__name__)

PATH = "/frames"
# Seconds: how long a run waits for a frame; how long nobody must have waited before one is made ahead of any move, and
# nobody else, since of many people's guesses most come to nothing; and what frames may take for that.
PATIENCE, REST, ALONE, LONG = 0.5, 0.2, 3.0, 1.0


# The figures by key as the browser gets them, for a link's parameters.
Answer = Callable[[Mapping[str, str]], dict[str, bytes]]


class Frames:
    """What a session's page answers, if it does; kept by its session, under a name that only its browser is told."""

    def __init__(self):
        self.name = secrets.token_urlsafe(16)
        self.answer: Answer | None = None
        self.busy = Lock()
        self.took = 0.0

    def give_way(self) -> None:
        """Let a frame under way end first, unless that takes long: it is what is seen first."""
        if self.busy.acquire(timeout=PATIENCE):
            self.busy.release()


class Awaited:
    """What people wait for, in the whole process: pages and frames."""

    def __init__(self):
        self._lock, self._inside = Lock(), 0
        self._ended: WeakKeyDictionary[Frames, float] = WeakKeyDictionary()

    @contextmanager
    def by(self, who: Frames) -> Iterator[None]:
        """Someone waits."""
        with self._lock:
            self._inside += 1
        try:
            yield
        finally:
            with self._lock:
                self._inside -= 1
                self._ended[who] = monotonic()

    def rests(self, who: Frames) -> bool:
        """Whether nobody waits, nor did a moment ago, and nobody but one for some seconds."""
        now = monotonic()
        with self._lock:
            ended = [(now - then, REST if one is who else ALONE) for one, then in self._ended.items()]
            return not self._inside and all(passed > least for passed, least in ended)


awaited = Awaited()
# Held by the one frame that is made ahead of any move.
_ahead = Lock()

_sessions: WeakValueDictionary[str, Frames] = WeakValueDictionary()


def mine() -> Frames:
    """The frames of this session."""
    found = st.session_state.get("frames")
    if found is None:
        found = st.session_state["frames"] = Frames()
        _sessions[found.name] = found
    return found


def address() -> str:
    """Where this session's browser asks for frames."""
    return f"{base_path()}{PATH}/{mine().name}"


def _frame(request: Request) -> Response:
    """Figures at other parameters, a line with the key and a line of JSON each; nothing for what a page cannot show."""
    frames = _sessions.get(request.path_params["name"])
    if frames is None or frames.answer is None:
        return Response(status_code=204)
    make = _make_ahead if request.headers.get("purpose") == "prefetch" else _make
    try:
        found = make(frames, frames.answer, dict(request.query_params))
    except Exception:
        # Streamlit's own run comes to the same, and says it on the page.
        log.debug("no frame", exc_info=True)
        return Response(status_code=204)
    if not found:
        return Response(status_code=204)
    lines = b"\n".join(line for key, figure in found.items() for line in (key.encode(), figure))
    # Packing takes longer than the way to the browser.
    headers = {"Content-Encoding": "identity", "Cache-Control": "no-store"}
    return Response(lines, media_type="text/plain", headers=headers)


def _make(frames: Frames, answer: Answer, parameters: Mapping[str, str]) -> dict[str, bytes]:
    with awaited.by(frames), frames.busy, one_blas_thread:
        started = monotonic()
        found = answer(parameters)
        frames.took = monotonic() - started
    return found


def _make_ahead(frames: Frames, answer: Answer, parameters: Mapping[str, str]) -> dict[str, bytes]:
    """Only while the whole server rests, one at a time, and where it has not taken long so far."""
    if not awaited.rests(frames) or frames.took > LONG or not _ahead.acquire(blocking=False):
        return {}
    try:
        with one_blas_thread:
            return answer(parameters)
    finally:
        _ahead.release()


def route() -> Route:
    """The server's address for frames."""
    return Route(f"{base_path()}{PATH}/{{name}}", _frame)
