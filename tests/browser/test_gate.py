"""The gate before Streamlit, with real sockets: own name, own pages, own token; and nobody is asked for an address."""

import socket
import threading
import time
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import pytest

from tests.browser import launch
from tests.browser.tab import Tab
from tests.browser.test_trust import handshake

TOKEN = "a-token-of-this-test"


@pytest.fixture(scope="module")
def asked():
    """A proxy that answers nobody, and who has asked it: all that the server would ask of the internet."""
    found = []
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def listen():
            while True:
                try:
                    found.append(listening.accept()[0].recv(200))
                except OSError:
                    return

        threading.Thread(target=listen, daemon=True).start()
        yield listening.getsockname()[1], found


@pytest.fixture(scope="module")
def log(tmp_path_factory):
    return tmp_path_factory.mktemp("gate") / "log"


@pytest.fixture(scope="module")
def server(asked, log, default_run, store_folder):
    """A server for every machine, with a token, that could only reach the internet by that proxy."""
    proxy = f"http://127.0.0.1:{asked[0]}"
    settings = {"DNTK_CACHE_DIR": str(store_folder), "OMP_NUM_THREADS": "1", "DNTK_TOKEN": TOKEN}
    settings |= {name: proxy for name in ("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy")}
    words = ("--server.address", "0.0.0.0", "--", "--remote", "--token")
    with launch.serve("app.py", log, *words, **settings) as address:
        yield address


def status(address: str, path: str = "/", **headers: str) -> int:
    """What the server answers; redirections are followed."""
    request = urllib.request.Request(
        f"{address}{path}", headers={name.replace("_", "-"): headers[name] for name in headers}
    )
    try:
        with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=60) as answer:
            return answer.status
    except urllib.error.HTTPError as error:
        return error.code


def cookie(address: str) -> str:
    return f"dntk-token-{address.rpartition(':')[2]}={TOKEN}"


PATHS = ("/", "/Spectra", "/_stcore/host-config", "/_stcore/health", "/static/index.html", "/media/x")


@pytest.mark.parametrize("path", PATHS)
def test_every_address_answers_under_its_own_name_alone(server, path):
    port = server.rpartition(":")[2]
    for host in (
        "example.org",
        f"example.org:{port}",
        "localhost.example.org",
        "127.0.0.1@example.org",
        "127.0.0.1:x",
        "",
    ):
        assert status(server, path, Host=host, Cookie=cookie(server)) == 400, host
    for host in ("localhost", f"localhost:{port}", "localhost:9000", "127.0.0.1", "LOCALHOST."):
        assert status(server, path, Host=host, Cookie=cookie(server)) not in (400, 403), host


@pytest.mark.parametrize(
    "origin", ["http://example.org", "http://localhost:9", "http://127.0.0.1", "null", "https://localhost"]
)
def test_pages_of_other_origins_are_refused(server, origin):
    assert " 101 " not in handshake(server, Origin=origin, Cookie=cookie(server))
    assert all(status(server, path, Origin=origin, Cookie=cookie(server)) == 403 for path in PATHS)
    assert " 101 " in handshake(server, Origin=server, Cookie=cookie(server))


def test_a_script_on_another_port_of_this_machine_is_no_page_of_ours(server):
    told = {"Sec_Fetch_Site": "same-site", "Sec_Fetch_Mode": "no-cors"}
    assert status(server, "/_stcore/health", **told) == 403
    visit = told | {"Sec_Fetch_Mode": "navigate"}
    assert status(server, "/_stcore/health", **visit, Sec_Fetch_Dest="document") == 200
    # Where clicks could be drawn to it.
    assert status(server, "/_stcore/health", **visit, Sec_Fetch_Dest="iframe") == 403


def test_foreign_pages_neither_hold_the_server_up_nor_make_it_ask_anybody(server, asked):
    with ThreadPoolExecutor(10) as pool:
        attempts = [pool.submit(handshake, server, Origin=f"http://{i}.example.org") for i in range(10)]
        before = time.monotonic()
        assert status(server, "/_stcore/health") == 200
        # Without the gate ten of them hold it up for twenty seconds.
        assert time.monotonic() - before < 15
    assert all(" 403 " in attempt.result() for attempt in attempts)
    assert asked[1] == []


def test_without_the_token_nobody_gets_in(server):
    assert status(server, "/media/x/_stcore/health") == 403
    assert status(server) == status(server, "/?token=wrong") == status(server, "/?token=") == 403
    assert " 101 " not in handshake(server) and " 101 " not in handshake(server, Cookie=cookie(server)[:-1])
    assert " 101 " in handshake(server, Cookie=cookie(server))
    assert status(server, Cookie=cookie(server)) == 200 and status(server, Cookie='"; =;;') == 403


@pytest.mark.parametrize("host", ["localhost", "example.org"])
@pytest.mark.parametrize("together", [True, False])
def test_a_request_in_broken_chunks_is_refused_and_leaves_no_trace(server, log, host, together):
    head = f"POST /_stcore/health HTTP/1.1\r\nHost: {host}\r\nTransfer-Encoding: chunked\r\n\r\n".encode()
    before = len(log.read_text())
    for chunks in (b"ZZ\r\nabc\r\n0\r\n\r\n", b"5\r\nabcde\r\nZZ\r\n", b"-1\r\n", b"GET / HTTP/1.1\r\n\r\n"):
        with socket.create_connection(("127.0.0.1", int(server.rpartition(":")[2])), 30) as client:
            client.sendall(head + chunks if together else head)
            answer = client.recv(1000)
            if not together:
                with suppress(OSError):
                    client.sendall(chunks)
        # Refused by the server below, which reads the chunks, or by the gate.
        assert answer.startswith((b"HTTP/1.1 400 ", b"HTTP/1.1 411 ")), answer
    assert status(server, "/_stcore/health") == 200
    assert "Traceback" not in log.read_text()[before:]


def test_the_link_that_is_printed_opens_the_page_and_the_cookie_keeps_it_open(server, log, chromium, default_run):
    assert f"/?token={TOKEN}" in log.read_text()
    one = Tab(chromium.new_context().new_page(), server)
    one.page.goto(f"{server}/?token={TOKEN}&run={default_run.key}")
    one.see("Runs in the cache")
    assert TOKEN not in one.page.url and default_run.key in one.page.url
    one.page.goto(f"{server}/Containment?run={default_run.key}")
    one.see("Containment")
    one.close()
