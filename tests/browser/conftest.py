"""A real server and a real Chromium, each started once; every test gets tabs of its own."""

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from dataclasses import replace
from pathlib import Path

import pytest
from tests.browser.tab import Tab
from playwright.sync_api import sync_playwright

from dntk_core import RunSpec, load_or_build

ROOT = Path(__file__).parents[2]
FLAGS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync"
).split()
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
SMALL = replace(
    RunSpec.default(),
    model=replace(RunSpec.default().model, epochs=1),
    inputs=replace(RunSpec.default().inputs, kernel=60, test=60),
    projection=replace(RunSpec.default().projection, k=256),
)


@pytest.fixture(scope="session")
def small_run(store_folder):
    """A second run, to compare with."""
    return load_or_build(SMALL)


@pytest.fixture(scope="session")
def server(store_folder, default_run, small_run):
    """The dashboard on a free port; its address."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    environment = os.environ | {"DNTK_CACHE_DIR": str(store_folder), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "streamlit", "run", "app.py", "--server.port", str(port)]
    with open(store_folder / "server.log", "w") as log:
        process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=log, stderr=log)
    try:
        address = f"http://127.0.0.1:{port}"
        _wait_until_healthy(address, process)
        yield address
    finally:
        process.terminate()
        process.wait(10)


@pytest.fixture(scope="session")
def chromium():
    """Any Chrome or Chromium there is, else Playwright's own."""
    found = [os.environ.get("DNTK_CHROME"), *map(shutil.which, NAMES)]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=next(filter(None, found), None), args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def context(chromium):
    """One browser profile: every tab is a session of its own, but files are fetched only once."""
    return chromium.new_context(viewport={"width": 1280, "height": 720})


@pytest.fixture
def tab(server, context):
    """Open a tab in a fresh session; no tab may have met an error by the end of the test."""
    tabs = []

    def open_tab(path: str = "") -> Tab:
        tabs.append(Tab(context.new_page(), server))
        return tabs[-1].goto(path)

    yield open_tab
    errors = [error for each in tabs for error in each.errors]
    for each in tabs:
        each.close()
    assert not errors, errors


def _wait_until_healthy(address: str, process: subprocess.Popen) -> None:
    for _ in range(300):
        try:
            urllib.request.urlopen(f"{address}/_stcore/health", timeout=1)
            return
        except (urllib.error.URLError, OSError):
            assert process.poll() is None, "the server did not start"
            time.sleep(0.1)
    raise AssertionError("the server did not answer within 30 s")
