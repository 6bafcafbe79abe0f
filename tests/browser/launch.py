"""Start a Streamlit server and end it; `chromium` does the same for a browser."""

import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from dntk_core.dashboard.pictures import chromium

__all__ = ["chromium", "serve"]

ROOT = Path(__file__).parents[2]


@contextmanager
def serve(script: str, log: Path, *arguments: str, **environment: str) -> Iterator[str]:
    """Serve a script of the repository on a free port, with Streamlit's and its own arguments; yields its address."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "streamlit", "run", script, "--server.port", str(port), *arguments]
    with open(log, "w") as output:
        process = subprocess.Popen(command, cwd=ROOT, env=os.environ | environment, stdout=output, stderr=output)
    try:
        address = f"http://127.0.0.1:{port}"
        _wait_until_healthy(address, process)
        yield address
    finally:
        process.terminate()
        process.wait(10)


def _wait_until_healthy(address: str, process: subprocess.Popen) -> None:
    for _ in range(600):
        try:
            urllib.request.urlopen(f"{address}/_stcore/health", timeout=1)
            return
        except (urllib.error.URLError, OSError):
            if process.poll() is not None:
                raise RuntimeError("the server did not start; see its log") from None
            time.sleep(0.1)
    raise RuntimeError("the server did not answer within 60 s")
