"""Figures ahead of Streamlit: while a slider moves, the browser asks for those of its new value and draws them itself.

A run of a page's script sends and renders every element anew. What a slider changes most are figures, and a page can
make those for any view (`page.follow`). So the browser fetches them at once, and Streamlit's run, which follows when
the slider has said its value, finds them drawn.
"""

import logging
import secrets
from collections.abc import Callable, Mapping
from threading import Lock
from weakref import WeakValueDictionary

import streamlit as st
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from dntk_core.base.threads import one_blas_thread
from dntk_core.dashboard.drawing.navigation import base_path

log = logging.getLogger(__name__)

PATH = "/frames"
# Seconds.
PATIENCE = 0.5


# The figures by key as the browser gets them, for a link's parameters.
Answer = Callable[[Mapping[str, str]], dict[str, bytes]]


class Frames:
    """What a session's page answers, if it does; kept by its session, under a name that only its browser is told."""

    def __init__(self):
        self.name = secrets.token_urlsafe(16)
        self.answer: Answer | None = None
        self.busy = Lock()

    def give_way(self) -> None:
        """Let a frame under way end first, unless that takes long: it is what is seen first."""
        if self.busy.acquire(timeout=PATIENCE):
            self.busy.release()


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
    try:
        with frames.busy, one_blas_thread:
            found = frames.answer(dict(request.query_params))
    except Exception:
        # Streamlit's own run comes to the same, and says it on the page.
        log.debug("no frame", exc_info=True)
        return Response(status_code=204)
    lines = b"\n".join(line for key, figure in found.items() for line in (key.encode(), figure))
    # Packing takes longer than the way to the browser.
    headers = {"Content-Encoding": "identity", "Cache-Control": "no-store"}
    return Response(lines, media_type="text/plain", headers=headers)


def route() -> Route:
    """The server's address for frames."""
    return Route(f"{base_path()}{PATH}/{{name}}", _frame)
