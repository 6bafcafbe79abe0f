"""What a disk does to the cache is one sentence, and only a missing file means that something is gone."""

import errno
import os

import pytest

from dntk_core.base.errors import DNTKError, Unreadable, Vanished
from dntk_core.cache.disk import is_folder, is_there, reading, writing

PASSING = (errno.EIO, errno.EMFILE, errno.EACCES, errno.ESTALE, errno.ENOLCK)


@pytest.mark.parametrize("code", PASSING)
def test_what_cannot_be_read_now_may_be_read_later(tmp_path, code):
    with pytest.raises(Unreadable, match="nothing was changed: try again") as raised, reading(tmp_path):
        raise OSError(code, os.strerror(code))
    assert not isinstance(raised.value, Vanished) and os.strerror(code) in str(raised.value)


@pytest.mark.parametrize("way", [reading, writing])
def test_what_is_not_there_was_deleted(tmp_path, way):
    with pytest.raises(Vanished, match="was deleted while it was in use"), way(tmp_path):
        (tmp_path / "gone").read_bytes()


@pytest.mark.parametrize("code, advice", [(errno.ENOSPC, "free some space"), (errno.EROFS, "make it writable")])
def test_what_cannot_be_written_says_what_to_do(tmp_path, code, advice):
    with pytest.raises(DNTKError, match=advice) as raised, writing(tmp_path):
        raise OSError(code, os.strerror(code))
    assert str(tmp_path) in str(raised.value) and "what is finished is kept" in str(raised.value)


def test_our_own_errors_pass_through(tmp_path):
    with pytest.raises(DNTKError, match=r"^as it is$"), reading(tmp_path):
        raise DNTKError("as it is")


def test_whether_something_is_there_is_told_or_cannot_be_told(tmp_path, monkeypatch):
    (tmp_path / "file").write_bytes(b"")
    assert is_folder(tmp_path) and is_there(tmp_path / "file") and not is_folder(tmp_path / "file")
    assert not is_there(tmp_path / "gone") and not is_folder(tmp_path / "file" / "in it")

    def fail(*_, **__):
        raise OSError(errno.ESTALE, "Stale file handle")

    monkeypatch.setattr(os, "stat", fail)
    for ask in (is_there, is_folder):
        with pytest.raises(OSError, match="Stale"):
            ask(tmp_path)
