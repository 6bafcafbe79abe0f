"""Serve the dashboard to this machine's browser, or, with --remote, to other machines."""

import os
import socket
import sys
from argparse import ArgumentParser, BooleanOptionalAction, Namespace
from pathlib import Path
from typing import NoReturn

from dntk_core.base.errors import DNTKError
from dntk_core.base.places import cache_folder
from dntk_core.cli.flags import dashboard_needed
from dntk_core.run.show import record

HELP = "the dashboard, in a browser"
LOCAL = ("localhost", "127.0.0.1")


def add(parser: ArgumentParser) -> None:
    """Describe the flags."""
    parser.add_argument("--port", type=int, default=8501, help="port to listen on (8501)")
    parser.add_argument(
        "--root",
        type=Path,
        action="append",
        default=[],
        metavar="FOLDER",
        help="a folder whose datasets and weights the pages may open; may be given several times",
    )
    parser.add_argument(
        "--uploads", type=Path, metavar="FOLDER", help="take files that a browser sends, and keep them in this folder"
    )
    parser.add_argument(
        "--upload-size", type=int, default=500, metavar="MB", help="the largest file that --uploads takes, in MB (500)"
    )
    parser.add_argument(
        "--remote",
        action="store_true",
        help="serve other machines too; there is no login, so put a proxy that has one in front",
    )
    parser.add_argument(
        "--token",
        action=BooleanOptionalAction,
        default=None,
        help="ask a browser for the token in the link that is printed (default: with --remote, or where other people "
        "have accounts on this machine)",
    )
    parser.add_argument(
        "--host",
        action="append",
        default=[],
        metavar="NAME",
        help="a name that other machines know this one by, for --remote (default: its host name)",
    )


def run(arguments: Namespace) -> NoReturn:
    """Become the server."""
    with dashboard_needed():
        from dntk_core.dashboard.drawing.navigation import site
    command = [sys.executable, "-P", "-m", "streamlit", "run", str(site() / "app.py"), *words(arguments)]
    # The process stays the same when it becomes the server.
    record(cache_folder(), arguments.port)
    sys.stdout.flush()
    os.execv(sys.executable, command)


def words(arguments: Namespace) -> list[str]:
    """Streamlit's options, then those of the dashboard's own."""
    if not 1 <= arguments.port <= 65535:
        raise DNTKError(f"--port must lie in 1..65535, got {arguments.port}")
    folders = [*arguments.root, *([arguments.uploads] if arguments.uploads else [])]
    for folder in folders:
        if not folder.is_dir():
            raise DNTKError(f"{folder} is not a folder; name one that exists")
    options = ["--server.port", str(arguments.port)]
    own = [word for folder in arguments.root for word in ("--root", str(folder.resolve()))]
    if arguments.uploads:
        options += ["--server.maxUploadSize", str(arguments.upload_size)]
        own += ["--uploads", str(arguments.uploads.resolve())]
    if arguments.remote:
        names = (*LOCAL, *(arguments.host or [socket.gethostname()]))
        options += [
            "--server.address",
            "0.0.0.0",
            *(word for name in names for word in ("--server.allowedHosts", name)),
        ]
        # Else Streamlit asks the internet for this machine's address, to print it.
        options += ["--browser.serverAddress", names[-1]]
        own.append("--remote")
    if arguments.token is not None:
        own.append("--token" if arguments.token else "--no-token")
    return [*options, "--", *own]
