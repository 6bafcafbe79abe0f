"""Start a Streamlit server and end it; `chromium` does the same for a browser."""

import os
import re
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from dntk_core.dashboard.offline.pictures import chromium

__all__ = ["chromium", "free_port", "own_tracebacks", "running", "serve"]

ROOT = Path(__file__).parents[2]
# Seconds that a busy machine may take for what it does at once.
PATIENCE = 180
OURS = re.compile(rf"{re.escape(str(ROOT))}/(app\.py|pages/|dntk_core/)")
FRAME = re.compile(r'^ *File "(.*?)", line', re.MULTILINE)
# All requests go through it, so what Streamlit raises does too.
GATE = f"{ROOT}/dntk_core/dashboard/server/gate.py"


@contextmanager
def serve(script: str, log: Path, *arguments: str, **environment: str) -> Iterator[str]:
    """Serve a script of the repository on a free port, with Streamlit's and its own arguments; yields its address."""
    port = free_port()
    own = arguments if "--" in arguments else (*arguments, "--")
    token = () if {"--token", "--no-token"} & set(own) else ("--no-token",)
    command = [sys.executable, "-m", "streamlit", "run", script, "--server.port", str(port), *own, *token]
    with running(command, port, log, ROOT, os.environ | environment) as address:
        yield address


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextmanager
def running(command: list[str], port: int, log: Path, folder: Path, environment: dict[str, str]) -> Iterator[str]:
    """Start a server and end it; yields its address once it answers."""
    with open(log, "w") as output:
        process = subprocess.Popen(command, cwd=folder, env=environment, stdout=output, stderr=output)
    try:
        address = f"http://127.0.0.1:{port}"
        _wait_until_healthy(address, process)
        yield address
    finally:
        process.terminate()
        try:
            process.wait(PATIENCE)
        finally:
            process.kill()


def own_tracebacks(log: str) -> list[str]:
    """Tracebacks in a server's log that go through our code; Streamlit has its own when a tab closes early."""
    found = ((text, FRAME.findall(text)) for text in log.split("Traceback (most recent call last)")[1:])
    return [text for text, frames in found if any(OURS.match(f) for f in (set(frames) - {GATE}) | set(frames[-1:]))]


def _wait_until_healthy(address: str, process: subprocess.Popen) -> None:
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        try:
            urllib.request.urlopen(f"{address}/_stcore/health", timeout=1)
            return
        except (urllib.error.URLError, OSError):
            if process.poll() is not None:
                raise RuntimeError("the server did not start; see its log") from None
            time.sleep(0.1)
    raise RuntimeError(f"the server did not answer within {PATIENCE} s")
