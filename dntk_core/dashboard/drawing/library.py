"""The installed plotly.js, handed out by our own server: no internet is needed, and a browser fetches it once."""

import gzip
from functools import cache
from pathlib import Path

import plotly
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from dntk_core.dashboard.drawing.navigation import base_path

# Another version has another address, so what a browser holds is never old. Streamlit would pack and send these
# megabytes for every tab, and a browser compiles anew what it does not hold.
HEADERS = {"Content-Encoding": "gzip", "Cache-Control": "public, max-age=31536000, immutable"}


def address() -> str:
    """Where plotly.js is."""
    return f"{base_path()}/plotly/{plotly.__version__}.js"


@cache
def _packed() -> bytes:
    return gzip.compress((Path(plotly.__file__).parent / "package_data" / "plotly.min.js").read_bytes())


def _library(request: Request) -> Response:
    return Response(_packed(), media_type="text/javascript", headers=HEADERS)


def route() -> Route:
    """The server's address for plotly.js."""
    return Route(address(), _library)
