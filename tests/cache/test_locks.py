"""Locks between processes: one holder, one sentence where there are none."""

import errno
import fcntl
from contextlib import ExitStack

import pytest

from dntk_core.base.errors import DNTKError, Vanished
from dntk_core.cache.locks import locked


def test_a_lock_is_held_by_one(tmp_path):
    with locked(tmp_path / "lock", wait=False) as mine, locked(tmp_path / "lock", wait=False) as theirs:
        assert mine and not theirs
    with locked(tmp_path / "lock", wait=False) as mine:
        assert mine


@pytest.mark.parametrize("code", [errno.ENOLCK, errno.EIO, errno.EINTR])
def test_a_disk_without_locks_is_one_sentence(tmp_path, monkeypatch, code):
    def refuse(*args):
        raise OSError(code, "no locks")

    monkeypatch.setattr(fcntl, "flock", refuse)
    with pytest.raises(DNTKError, match=r"takes no locks .* local disk"), locked(tmp_path / "lock", wait=True):
        raise AssertionError("nothing is locked")


def test_a_lock_deleted_while_it_is_waited_for_is_nobodys(tmp_path, monkeypatch):
    real = fcntl.flock
    with ExitStack() as first:
        first.enter_context(locked(tmp_path / "lock", wait=False))

        def waited(*arguments):
            (tmp_path / "lock").unlink(missing_ok=True)
            first.close()
            return real(*arguments)

        monkeypatch.setattr(fcntl, "flock", waited)
        with pytest.raises(Vanished), locked(tmp_path / "lock", wait=True):
            raise AssertionError("another process could lock a file of the same name")
