"""The dashboard opened on a run, from Python: one that already serves its cache, or a new one."""

import atexit
import json
import os
import secrets
import socket
import subprocess
import sys
import time
import webbrowser
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

from dntk_core.base.errors import DNTKError
from dntk_core.base.terminal import in_notebook

PORT = 8501
# Loading Streamlit and PyTorch takes seconds on a busy machine.
PATIENCE = 90.0
# The environment in which a server finds the token that its link must show.
TOKEN = "DNTK_TOKEN"
RECORD, LOG = "dashboard.json", "dashboard.log"


def show(root: Path, key: str, browser: bool = True, wait: bool | None = None) -> str:
    """Open the dashboard of a cache on a run in the browser; prints and returns the address.

    wait: whether to serve until Ctrl-C, as a script must; at a prompt and in a notebook the server ends with Python
    """
    found, server = serving(root), None
    if found is None:
        server = _start(root)
        found = serving(root)
    if found is None:
        raise DNTKError(f"the dashboard ended at once; {root / LOG} says why")
    port, token = found
    address = f"http://localhost:{port}/?token={token}&run={key}"
    print(address)
    if browser:
        webbrowser.open(address)
    if server is not None and (not _at_a_prompt() if wait is None else wait):
        _serve(server)
    return address


def record(root: Path, port: int) -> None:
    """Note that this process serves a cache, so that others find it; a cache that cannot be written is served too."""
    # Whoever may read the cache may open its dashboard.
    token = os.environ.setdefault(TOKEN, secrets.token_urlsafe(24))
    try:
        root.mkdir(parents=True, exist_ok=True, mode=0o700)
        (root / RECORD).touch(mode=0o600)
        (root / RECORD).write_text(json.dumps({"port": port, "pid": os.getpid(), "token": token}))
    except OSError:
        return


def serving(root: Path) -> tuple[int, str] | None:
    """Port and token of a dashboard that serves this cache now, or None."""
    try:
        noted = json.loads((root / RECORD).read_text())
        port, pid, token = int(noted["port"]), int(noted["pid"]), str(noted["token"])
        os.kill(pid, 0)
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return (port, token) if _answers(port) else None


def _start(root: Path) -> subprocess.Popen:
    port = _free_port()
    package = str(Path(__file__).resolve().parents[2])
    path = os.pathsep.join(filter(None, (package, os.environ.get("PYTHONPATH", ""))))
    environment = os.environ | {"DNTK_CACHE_DIR": str(root.resolve()), "PYTHONPATH": path}
    command = [sys.executable, "-m", "dntk_core", "serve", "--port", str(port), "--token"]
    with open(root / LOG, "w") as log:
        server = subprocess.Popen(command, env=environment, stdout=log, stderr=log, stdin=subprocess.DEVNULL)
    atexit.register(_end, server)
    deadline = time.monotonic() + PATIENCE
    while not _answers(port):
        if server.poll() is not None:
            lines = (root / LOG).read_text().strip().splitlines()
            raise DNTKError(f"the dashboard did not start: {lines[-1] if lines else 'it said nothing'}")
        if time.monotonic() > deadline:
            server.terminate()
            raise DNTKError(f"the dashboard did not answer within {PATIENCE:.0f} s; {root / LOG} says what it did")
        time.sleep(0.2)
    return server


def _end(server: subprocess.Popen) -> None:
    """End a server and wait until it has: whoever looks next must not find it."""
    server.terminate()
    try:
        server.wait(10)
    except subprocess.TimeoutExpired:
        server.kill()
        server.wait()


def _serve(server: subprocess.Popen) -> None:
    print("serving until Ctrl-C")
    try:
        server.wait()
    except KeyboardInterrupt:
        server.terminate()


def _answers(port: int) -> bool:
    try:
        with urlopen(f"http://localhost:{port}/_stcore/health", timeout=2) as answer:
            return answer.status == 200
    except (URLError, OSError):
        return False


def _free_port() -> int:
    """The usual port, or any other if that is taken."""
    for port in (PORT, 0):
        with socket.socket() as found:
            try:
                found.bind(("localhost", port))
            except OSError:
                continue
            return found.getsockname()[1]
    raise DNTKError("no port is free for the dashboard")


def _at_a_prompt() -> bool:
    return hasattr(sys, "ps1") or in_notebook()
