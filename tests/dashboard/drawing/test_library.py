"""plotly.js from our own server."""

from plotly.offline import get_plotlyjs
from starlette.applications import Starlette
from starlette.testclient import TestClient

from dntk_core.dashboard.drawing import library


def test_the_installed_library_is_sent_packed_and_may_be_kept():
    answer = TestClient(Starlette(routes=[library.route()])).get(library.address())
    assert answer.text == get_plotlyjs() and answer.headers["content-type"].startswith("text/javascript")
    assert int(answer.headers["content-length"]) < len(answer.content) / 2
    assert "immutable" in answer.headers["cache-control"]
