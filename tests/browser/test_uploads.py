"""Files sent through the page: only where the server's owner allows it, checked, then offered in the form."""

import pytest

from tests.browser import launch
from tests.dashboard.test_uploads import dataset


@pytest.fixture(scope="module")
def uploads(tmp_path_factory):
    return tmp_path_factory.mktemp("uploads")


@pytest.fixture(scope="module")
def log(uploads):
    return uploads.with_name("uploads.log")


@pytest.fixture(scope="module")
def server(store_folder, default_run, uploads, log):
    words = ("--server.maxUploadSize", "2", "--", "--uploads", str(uploads))
    with launch.serve("app.py", log, *words, DNTK_CACHE_DIR=str(store_folder), OMP_NUM_THREADS="1") as address:
        yield address


def send(one, name: str, content: bytes) -> None:
    file = {"name": name, "mimeType": "application/octet-stream", "buffer": content}
    one.page.locator("[data-testid=stFileUploader] input[type=file]").set_input_files([file])


def test_a_file_is_checked_kept_and_offered(tab, uploads):
    one = tab()
    one.page.get_by_text("Compute another run").click()
    send(one, "<b>no.npz", b"hello")
    one.page.get_by_text("cannot be read as .npz").wait_for()
    assert "<b>no.npz" in one.text() and not [*uploads.glob("[!.]*")]

    send(one, "mine.npz", b"\0" * 3 * 2**20)
    one.page.get_by_text("2.0MB or smaller").wait_for()

    send(one, "mine.npz", dataset())
    one.page.get_by_text("Kept as mine-").wait_for()
    (kept,) = uploads.glob("[!.]*")
    one.page.get_by_test_id("stFileUploaderFile").wait_for(state="detached")
    files = one.settle().page.get_by_role("combobox", name="Data path")
    # A list that is open when the page scrolls closes.
    files.scroll_into_view_if_needed()
    files.fill("mine")
    one.page.get_by_role("option", name=kept.name).wait_for()
