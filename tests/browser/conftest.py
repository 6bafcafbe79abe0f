"""A real server and a real Chromium, each started once; every test gets tabs of its own."""

from dataclasses import replace
from functools import partial

import pytest

from dntk_core import RunSpec
from tests.browser import launch
from tests.browser.tab import Tab

DEFAULT = RunSpec.default()
SMALL = replace(
    DEFAULT,
    model=replace(DEFAULT.model, epochs=1),
    inputs=replace(DEFAULT.inputs, kernel=60, test=60),
    projection=replace(DEFAULT.projection, k=256),
)


@pytest.fixture(scope="session", autouse=True)
def store_folder(tmp_path_factory):
    """One cache folder for all these files, since they share a server."""
    folder = tmp_path_factory.mktemp("served")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DNTK_CACHE_DIR", str(folder))
        yield folder


@pytest.fixture(scope="session")
def build_once(build_into, store_folder):
    """Compute a run unless another worker did."""
    return partial(build_into, store_folder)


@pytest.fixture(scope="session")
def default_run(build_once):
    """The embedded run on digits."""
    return build_once(DEFAULT)


@pytest.fixture(scope="session")
def small_run(build_once):
    """A second run, to compare with, and for all that a small run shows as well."""
    return build_once(SMALL)


@pytest.fixture(scope="session")
def log(store_folder):
    """What the server says."""
    return store_folder / "server.log"


@pytest.fixture(scope="session")
def server(store_folder, log, default_run, small_run):
    """The address of the dashboard."""
    settings = {"DNTK_CACHE_DIR": str(store_folder), "OMP_NUM_THREADS": "1"}
    with launch.serve("app.py", log, **settings) as address:
        yield address


@pytest.fixture(scope="session")
def context(chromium):
    """One browser profile: every tab is a session of its own, but files are fetched only once."""
    return chromium.new_context(viewport={"width": 1280, "height": 720})


@pytest.fixture
def tab(server, context, log):
    """Open a tab in a fresh session; neither tabs nor server may have met an error by the end of the test."""
    tabs = []
    before = log.stat().st_size

    if not context.pages:
        # Always one tab at least, since what tabs share ends with the last.
        context.new_page().goto(f"{server}/_stcore/health")

    def open_tab(path: str = "") -> Tab:
        tabs.append(Tab(context.new_page(), server))
        return tabs[-1].goto(path)

    yield open_tab
    errors = [error for each in tabs for error in each.errors]
    errors += launch.own_tracebacks(log.read_bytes()[before:].decode())
    for each in tabs:
        each.close()
    assert not errors, errors
