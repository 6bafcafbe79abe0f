"""Start a Streamlit server and a Chromium, and end both."""

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

ROOT = Path(__file__).parents[2]
FLAGS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync"
).split()
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


@contextmanager
def serve(script: str, log: Path, **environment: str) -> Iterator[str]:
    """Serve a script of the repository on a free port; yields its address."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "streamlit", "run", script, "--server.port", str(port)]
    with open(log, "w") as output:
        process = subprocess.Popen(command, cwd=ROOT, env=os.environ | environment, stdout=output, stderr=output)
    try:
        address = f"http://127.0.0.1:{port}"
        _wait_until_healthy(address, process)
        yield address
    finally:
        process.terminate()
        process.wait(10)


@contextmanager
def chromium() -> Iterator[Browser]:
    """Any Chrome or Chromium there is ($DNTK_CHROME first), else Playwright's own."""
    found = [os.environ.get("DNTK_CHROME"), *map(shutil.which, NAMES)]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=next(filter(None, found), None), args=FLAGS)
        try:
            yield browser
        finally:
            browser.close()


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
