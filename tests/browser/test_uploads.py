"""Files sent through the page: only where the server's owner allows it, checked, then offered in the form."""

import pytest

from tests.browser import launch
from tests.dashboard.server.test_uploads import dataset


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


def test_a_file_is_checked_kept_and_offered(tab, uploads):
    one = tab().unfold("Compute another run")
    one.send("<b>no.npz", b"hello", until="cannot be read as .npz")
    assert "<b>no.npz" in one.text() and not [*uploads.glob("[!.]*")]

    one.send("mine.npz", b"\0" * 3 * 2**20, until="2.0MB or smaller")

    one.send("mine.npz", dataset(), until=lambda: "Kept as mine-" in one.toasts())
    (kept,) = uploads.glob("[!.]*")
    one.offers("Data path", "mine", kept.name)
    assert one.page.get_by_test_id("stFileUploaderFile").count() == 0
