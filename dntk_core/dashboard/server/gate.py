"""Who gets as far as Streamlit: requests to this server's own name, from its own pages, with its token if it asks."""

import hmac
import os
import pwd
import secrets
from contextlib import suppress
from http.cookies import CookieError, SimpleCookie
from pathlib import Path
from urllib.parse import parse_qsl, urlencode, urlsplit

import streamlit as st
from h11 import LocalProtocolError
from starlette.requests import HTTPConnection
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from dntk_core.dashboard.server.settings import Settings, settings

LOCAL = ("localhost", "127.0.0.1", "[::1]", "::1")
# Numbers of people's accounts; below are the system's own, above those of containers.
PEOPLE = range(500, 60_000)
ASKS = "This server asks for its token: open the link that it printed when it was started.\n"


class Gate:
    """ASGI middleware that stands before Streamlit: what it refuses is never seen there."""

    def __init__(self, app: ASGIApp):
        self.app = app
        self.token = _token() if wants_token(settings()) else ""
        if self.token:
            # Streamlit has said where it listens; this is the link to open.
            print(f"  Open http://localhost:{st.get_option('server.port')}/?token={self.token}\n", flush=True)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or answer it here."""
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        connection = HTTPConnection(scope)
        answer = _endless(connection) or _foreign(connection) or self._stranger(connection)
        if answer is None:
            await self.app(scope, receive, send)
        elif scope["type"] == "http":
            # Where what follows a request is no HTTP, the server below has refused it and listens no more.
            with suppress(LocalProtocolError):
                await answer(scope, receive, send)
        else:
            await receive()
            await send({"type": "websocket.close", "code": 1008})

    def _stranger(self, connection: HTTPConnection) -> Response | None:
        """What to answer to one who has not shown the token; None if all is well."""
        if not self.token or connection.url.path == _health():
            return None
        shown = parse_qsl(connection.url.query, keep_blank_values=True)
        if connection.scope["type"] == "http" and self._fits(dict(shown).get("token", "")):
            rest = urlencode([(name, value) for name, value in shown if name != "token"])
            path = connection.url.path.lstrip("/")
            answer = RedirectResponse(f"/{path}{'?' if rest else ''}{rest}", status_code=303)
            answer.set_cookie(_cookie(), self.token, httponly=True, samesite="lax")
            return answer
        if self._fits(_cookies(connection).get(_cookie(), "")):
            return None
        return PlainTextResponse(ASKS, status_code=403)

    def _fits(self, shown: str) -> bool:
        return hmac.compare_digest(shown.encode(errors="replace"), self.token.encode())


def _foreign(connection: HTTPConnection) -> Response | None:
    """Refuse a request under another name, or from a page of another origin; another port is another origin."""
    hosts, origins = (connection.headers.getlist(name) for name in ("host", "origin"))
    if len(hosts) != 1 or not _known(hosts[0]):
        return PlainTextResponse("This server is not known by that name.\n", status_code=400)
    own = {f"{scheme}://{hosts[0].lower()}" for scheme in ("http", "https")}
    allowed = own | set(st.get_option("server.corsAllowedOrigins") or ())
    inside = connection.headers.get("sec-fetch-site", "none") in ("none", "same-origin")
    # Another site may link to a page, not show it in a frame of its own, where clicks could be drawn to it.
    framed = connection.headers.get("sec-fetch-dest", "document") != "document"
    visit = connection.headers.get("sec-fetch-mode") == "navigate" and not framed
    if len(origins) > 1 or any(origin.lower() not in allowed for origin in origins) or not (inside or visit or origins):
        return PlainTextResponse("This server answers its own pages alone.\n", status_code=403)
    return None


def _endless(connection: HTTPConnection) -> Response | None:
    """Refuse a request that comes in chunks: no browser sends any, and a broken one would be found half-way."""
    if "transfer-encoding" not in connection.headers:
        return None
    return PlainTextResponse("Say how long the request is.\n", status_code=411, headers={"connection": "close"})


def _known(host: str) -> bool:
    """Whether a Host header names this server, at any port: a tunnel may begin at another."""
    try:
        parts = urlsplit(f"//{host}")
        name, _ = (parts.hostname or "").rstrip("."), parts.port
    except ValueError:
        return False
    plain = not (parts.path or parts.query or parts.fragment or "@" in host)
    names = [known.lower().rstrip(".") for known in st.get_option("server.allowedHosts") or LOCAL]
    return plain and any(name == known or (known[:2] == "*." and name.endswith(known[1:])) for known in names)


def wants_token(chosen: Settings) -> bool:
    """As the owner says; else wherever somebody else could reach the server."""
    return chosen.token if chosen.token is not None else chosen.remote or shared_machine()


def shared_machine() -> bool:
    """Whether other people have accounts on this machine, or processes: every user of it reaches localhost."""
    accounts = {each.pw_uid for each in pwd.getpwall() if not each.pw_shell.endswith(("nologin", "false", "sync"))}
    processes = set()
    for place in Path("/proc").glob("[0-9]*"):
        try:
            processes.add(place.stat().st_uid)
        except OSError:
            continue
    return any(number in PEOPLE for number in (accounts | processes) - {os.getuid()})


def _token() -> str:
    return os.environ.get("DNTK_TOKEN") or secrets.token_urlsafe(24)


def _health() -> str:
    """Where Streamlit says that it is well: the one address that needs no token."""
    base = (st.get_option("server.baseUrlPath") or "").strip("/")
    return f"/{base}/_stcore/health".replace("//", "/")


def _cookie() -> str:
    # Browsers share cookies between ports.
    return f"dntk-token-{st.get_option('server.port')}"


def _cookies(connection: HTTPConnection) -> dict[str, str]:
    try:
        return {name: morsel.value for name, morsel in SimpleCookie(connection.headers.get("cookie", "")).items()}
    except CookieError:
        return {}
