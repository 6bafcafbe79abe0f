"""Files handed out to a browser: made when they are asked for, and kept until they were fetched."""

from collections.abc import Callable
from itertools import cycle
from threading import Timer

import streamlit as st
from streamlit import runtime
from streamlit.runtime.media_file_manager import MediaFileManager

# Seconds in which a browser fetches what it has asked for.
HELD = 60.0
_MIME = "application/octet-stream"
_places = cycle(range(1000))


def offer(label: str, make: Callable[[], str | bytes], name: str) -> None:
    """A button that makes a file when clicked; the page does not run again, which would void the other buttons."""
    st.download_button(label, data=lambda: _made(make, name), file_name=name, mime=_MIME, on_click="ignore")


def _made(make: Callable[[], str | bytes], name: str) -> bytes:
    made = make()
    content = made.encode() if isinstance(made, str) else made
    hold(runtime.get_instance().media_file_mgr, content, name)
    return content


def hold(files: MediaFileManager, content: bytes, name: str, seconds: float = HELD) -> None:
    """Keep a file that is about to be fetched: Streamlit drops it as soon as two pages of anybody were drawn."""
    place = f"handed out {next(_places)}"
    files.add(content, _MIME, place, name, is_for_static_download=True)
    # Nothing in its place lets go of it.
    release = Timer(seconds, files.add, (b"", _MIME, place))
    release.daemon = True
    release.start()
