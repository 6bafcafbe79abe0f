"""A file that was asked for is there when the browser fetches it, whoever draws pages meanwhile, and not for ever."""

from types import SimpleNamespace

import pytest
from streamlit.runtime.media_file_manager import MediaFileManager
from streamlit.runtime.media_file_storage import MediaFileStorageError
from streamlit.runtime.memory_media_file_storage import MemoryMediaFileStorage

from dntk_core.dashboard.offline import handing


def test_a_file_that_was_asked_for_is_there_when_it_is_fetched_and_then_let_go(monkeypatch):
    storage, offered, released = MemoryMediaFileStorage("/media"), {}, []
    files = MediaFileManager(storage)
    monkeypatch.setattr(handing.runtime, "get_instance", lambda: SimpleNamespace(media_file_mgr=files))
    monkeypatch.setattr(handing.st, "download_button", lambda label, **how: offered.update(how))

    def timer(seconds, act, arguments):
        return SimpleNamespace(start=lambda: released.append(lambda: act(*arguments)))

    monkeypatch.setattr(handing, "Timer", timer)
    handing.offer("CSV", lambda: "a,b", "x.csv")
    # As Streamlit does when the button is clicked, and whenever anybody's page was drawn.
    button = files.add_deferred(offered["data"], offered["mime"], "1.2", offered["file_name"])
    place = files.execute_deferred(button).rpartition("/")[2]
    for _ in range(3):
        files.remove_orphaned_files()
    assert storage.get_file(place).content == b"a,b"
    released.pop()()
    for _ in range(2):
        files.remove_orphaned_files()
    with pytest.raises(MediaFileStorageError):
        storage.get_file(place)
