"""What the server's owner allows: who may reach it, and which folders its pages may open."""

import argparse
import logging
import sys
from dataclasses import dataclass
from functools import cache
from ipaddress import ip_address
from pathlib import Path

import streamlit as st

log = logging.getLogger(__name__)

WARNING = (
    "DNTK has no login: whoever reaches %s can start computations and delete runs. "
    "Put an ssh tunnel or a reverse proxy with a login in front of it."
)


@dataclass(frozen=True)
class Settings:
    """Arguments after the script's name: streamlit run app.py -- --remote --root /data --uploads /data/new

    roots: folders whose files pages may open, that for uploads among them; uploads: where files sent are kept
    token: whether a browser must show the token printed at the start; None = where others could reach the server
    """

    remote: bool = False
    roots: tuple[Path, ...] = ()
    uploads: Path | None = None
    token: bool | None = None


@cache
def settings() -> Settings:
    """Read the arguments once; they hold until the server ends."""
    arguments = parse(sys.argv[1:])
    if arguments.remote:
        log.warning(WARNING, st.get_option("server.address") or "any address of this machine")
    return arguments


def parse(words: list[str]) -> Settings:
    """Read the arguments; what is no folder is left out, with a warning."""
    parser = argparse.ArgumentParser(allow_abbrev=False, add_help=False, exit_on_error=False)
    parser.add_argument("--remote", action="store_true")
    parser.add_argument("--root", action="append", default=[])
    parser.add_argument("--uploads", action="append", default=[])
    parser.add_argument("--token", action=argparse.BooleanOptionalAction, default=None)
    try:
        found, _ = parser.parse_known_args(words)
    except argparse.ArgumentError as error:
        log.warning("%s; no folder is opened, and this machine alone is served", error)
        return Settings()
    roots, uploads = (_folders(flag, named) for flag, named in (("root", found.root), ("uploads", found.uploads)))
    return Settings(found.remote, roots + uploads[-1:], uploads[-1] if uploads else None, found.token)


def _folders(flag: str, named: list[str]) -> tuple[Path, ...]:
    there = [name for name in named if name and Path(name).is_dir()]
    for name in named:
        if name not in there:
            log.warning("--%s %r is no folder; it is left out", flag, name)
    return tuple(Path(name).resolve() for name in there)


def refusal(address: str | None, xsrf: bool, remote: bool) -> str:
    """Why no page is shown; empty if all is well."""
    if not xsrf:
        return "Pages are shown only with XSRF protection; start the server without server.enableXsrfProtection=false."
    if not _loopback(address) and not remote:
        return (
            "This server can be reached from other machines, and DNTK has no login. "
            "Start it with --server.address localhost, or, if that is meant, with: streamlit run app.py -- --remote"
        )
    return ""


def guard() -> None:
    """Show one sentence and nothing else unless the server runs as its owner must have meant it."""
    why = refusal(st.get_option("server.address"), st.get_option("server.enableXsrfProtection"), settings().remote)
    if why:
        st.error(why)
        st.stop()


def _loopback(address: str | None) -> bool:
    """Whether only this machine reaches the address; unset means every interface."""
    try:
        return address == "localhost" or ip_address(address or "").is_loopback
    except ValueError:
        return False
