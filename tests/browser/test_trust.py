"""What comes from outside is shown as text, runs nothing, asks for nothing, and opens nothing but the owner's files."""

import socket
import urllib.error
import urllib.request
from pathlib import Path
from urllib.parse import quote

import numpy as np
import pytest
import streamlit

from dntk_core import RunSpec, load_or_build
from dntk_core.base.spec import DataSpec, InputSpec, ModelSpec, ProjectionSpec
from dntk_core.cache.index import Index
from dntk_core.cache.store import Store
from dntk_core.dashboard.drawing.literal import JOINER
from dntk_core.dashboard.drawing.panel import Panel
from dntk_core.dashboard.figures import spectra
from dntk_core.dashboard.offline.report import report
from dntk_core.run.live import Live
from tests import hostile
from tests.browser import launch
from tests.browser.tab import Tab

# What Streamlit hands out to every browser.
SCRIPTS = Path(streamlit.__file__).parent / "static"
LINKED = "![](//127.0.0.1:9/)"
EVERY = " ".join(hostile.NAMES)


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A root with data whose classes have hostile names, and the same data beside it."""
    folder = tmp_path_factory.mktemp("place")
    (folder / "root").mkdir()
    C, rng = len(hostile.NAMES), np.random.default_rng(0)
    arrays = {"class_names": np.array(hostile.NAMES)}
    for part, n in (("train", 4 * C), ("test", 2 * C)):
        arrays |= {f"{part}_images": rng.integers(0, 255, (n, 1, 8, 8), np.uint8), f"{part}_labels": np.arange(n) % C}
    for path in (folder / "root" / "<b>data<b>.npz", folder / "outside.npz"):
        np.savez(path, **arrays)
    return folder


@pytest.fixture(scope="module")
def run(place):
    """A tiny run on these data; another was begun with names as bad and with files elsewhere."""
    store = Store(place / "cache")
    sizes = {"inputs": InputSpec(20, 20), "projection": ProjectionSpec(k=64)}
    found = RunSpec(DataSpec("npz", str(place / "root" / "<b>data<b>.npz")), ModelSpec(epochs=0), **sizes)
    begun = RunSpec(DataSpec("npz", str(place / "outside.npz")), ModelSpec(EVERY, epochs=0), **sizes)
    Index(store).begin(begun)
    return load_or_build(found, store=store)


@pytest.fixture(scope="module")
def log(place):
    return place / "log"


@pytest.fixture(scope="module")
def server(place, log, run):
    settings = {"DNTK_CACHE_DIR": str(place / "cache"), "OMP_NUM_THREADS": "1"}
    with launch.serve("app.py", log, "--", "--root", str(place / "root"), **settings) as address:
        yield address


def literally(text: str) -> str:
    return text.replace(JOINER, "")


def assert_harmless(tab: Tab) -> None:
    """Nothing ran, nothing was made of the names, nothing was asked of anybody else."""
    assert tab.page.evaluate("window.pwned") is None
    # Links to our own pages are made by Streamlit, none of them of a name.
    made = "b, a[href]:not([href^='#'], [data-testid^='stPageLink'])"
    toasts = "made => [...watch.toasts].filter((toast) => toast.querySelector(made)).length"
    assert tab.page.get_by_test_id("stMain").locator(made).count() == 0 and tab.page.evaluate(toasts, made) == 0
    assert tab.page.locator("img").count() == 0
    assert not [url for url in tab.asked if not url.startswith((tab.address, "data:", "blob:"))]


def test_class_names_are_text_in_figures_and_sentences(tab, run):
    one = tab(f"Containment?run={run.key}&kernel=4")
    one.plots(1)
    assert f"the clusters of the {hostile.NAMES[4]} kernel hold" in literally(one.text())
    assert_harmless(one)
    one.follow("Spectra").plots(3)
    assert set(hostile.NAMES) <= set(one.page.locator(".dntk-plot .ytick text").all_text_contents())
    figure = one.page.locator(".dntk-plot").first
    for c in range(len(hostile.NAMES)):
        figure.evaluate("(gd, c) => Plotly.Fx.hover(gd, [{curveNumber: c, pointNumber: 0}])", c)
        said = literally(figure.locator(".hovertext").text_content())
        assert said.startswith(("mean: λ", *(f"{name}: λ" for name in hostile.NAMES))), said
    assert_harmless(one)


def test_a_report_is_as_harmless(chromium, run, tmp_path):
    found = dict(zip(run.class_names, Live(run.problem).spectra(), strict=True))
    figure = spectra.summary(found, 0.05, 1.0, run.class_names[0])
    path = tmp_path / "report.html"
    path.write_text(report(EVERY, EVERY, [(EVERY, [Panel("key", figure, EVERY, EVERY, EVERY)])]))
    page, asked = chromium.new_page(), []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(path.as_uri())
    page.wait_for_selector(".ytick text")
    assert set(hostile.NAMES) <= set(page.locator(".ytick text").all_text_contents())
    assert page.evaluate("window.pwned") is None and page.locator("img, h1 b, h1 a, p b, p a").count() == 0
    assert page.locator("h1").text_content() == EVERY and len(asked) == 1
    page.close()


def test_a_link_cannot_write_into_the_page(tab, run):
    one = tab(f"Spectra?run={run.key}&H={quote(LINKED)}&rule={quote('[x](//a)')}")
    said = literally(one.told("The link asks for rule").toasts())
    assert LINKED in said and "[x](//a)" in said
    assert_harmless(one)
    two = tab(f"Spectra?run={quote(LINKED)}")
    assert f"Run {LINKED} is not in this cache" in literally(two.text())
    assert_harmless(two)


def test_the_form_offers_the_owners_files_and_opens_no_others(tab, run):
    one = tab(f"?run={run.key}")
    assert EVERY in literally(one.text())
    one.press("Resume", until="does not lie below the folders")
    card = one.page.locator("[class*=st-key-job_]")
    assert card.get_by_role("button").all_inner_texts() == ["Dismiss"], "there is nothing to resume"
    assert "python -m dntk_core build" in literally(one.text()) and "Traceback" not in one.text()
    one.unfold("Compute another run")
    assert one.page.get_by_test_id("stFileUploader").count() == 0
    assert one.combobox("Data path").input_value() == "<b>data<b>.npz"
    for name, says in (("../outside.npz", "without .."), ("/etc/passwd", "no leading /"), ("gone.npz", "there is no")):
        one.enter("Data path", name).see(says)
        # While the page is drawn anew the button may stand there twice.
        button = one.page.get_by_role("button", name="Compute", exact=True)
        one.until(lambda button=button: button.count() == 1 and button.is_disabled(), lambda: None)
    assert_harmless(one)


def test_an_upload_is_refused_and_leaves_nothing(server, place):
    before = sorted(place.rglob("*"))
    for method, path in (("PUT", "_stcore/upload_file/x/y"), ("POST", "_stcore/agent/interact")):
        request = urllib.request.Request(f"{server}/{path}", b"x" * 1000, method=method)
        with pytest.raises(urllib.error.HTTPError) as caught:
            urllib.request.urlopen(request)
        assert 400 <= caught.value.code < 500
    assert sorted(place.rglob("*")) == before


def handshake(server: str, **headers: str) -> str:
    """The first line that the server answers to a browser that wants to speak with it."""
    with speak(server, **headers) as connection:
        return connection.recv(200).decode(errors="replace").splitlines()[0]


def speak(server: str, path: str = "/_stcore/stream", **headers: str) -> socket.socket:
    """Ask as a browser does that wants to speak with the server."""
    host, port = server.removeprefix("http://").split(":")
    fixed = {"Upgrade": "websocket", "Connection": "Upgrade", "Sec-WebSocket-Version": "13"}
    fixed |= {"Sec-WebSocket-Key": "AAAAAAAAAAAAAAAAAAAAAA==", "Host": f"{host}:{port}"}
    lines = [f"{name}: {value}" for name, value in (fixed | headers).items()]
    connection = socket.socket()
    connection.settimeout(60)
    # What is not read stays with the server.
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    connection.connect((host, int(port)))
    connection.sendall("\r\n".join([f"GET {path} HTTP/1.1", *lines, "", ""]).encode())
    return connection


def test_another_sites_page_cannot_speak_to_the_server(server):
    assert " 101 " in handshake(server)
    assert " 101 " not in handshake(server, Host="example.org")
    assert " 101 " not in handshake(server, Origin="http://example.org")
    assert " 101 " not in handshake(server, Origin="http://localhost:9")


@pytest.mark.parametrize("flag", [False, True])
def test_other_machines_are_served_only_with_the_flag_and_a_server_ends_when_told(chromium, place, run, flag):
    log = place / f"remote-{flag}.log"
    words = ["--server.address", "0.0.0.0", *(["--", "--remote"] if flag else [])]
    with launch.serve("app.py", log, *words, DNTK_CACHE_DIR=str(place / "cache"), OMP_NUM_THREADS="1") as address:
        one = Tab(chromium.new_page(), address)
        one.page.goto(f"{address}/?run={run.key}")
        if flag:
            one.see("Runs in the cache")
        else:
            one.see("can be reached from other machines")
            assert one.page.get_by_test_id("stMain").get_by_role("button").count() == 0
            assert run.key not in one.page.content().replace(one.page.url, "")
        one.close()
        page, answer = speak(address), speak(address, largest_script(), Connection="close", Upgrade="")
        assert b" 101 " in page.recv(100) and b" 200 " in answer.recv(100)
    # It has ended, though they are open and unread.
    page.close()
    answer.close()
    assert ("DNTK has no login" in log.read_text()) == flag


def largest_script() -> str:
    """The address of an answer that is still on its way when nobody reads it."""
    return max((file.stat().st_size, f"/static/js/{file.name}") for file in (SCRIPTS / "static/js").iterdir())[1]
