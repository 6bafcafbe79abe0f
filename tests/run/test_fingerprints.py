"""A folder's fingerprint: files are read once, names need not be text, what is remembered may be damaged."""

import errno
import os

import pytest

from dntk_core.base.errors import Unreadable
from dntk_core.cache.files import sha256
from dntk_core.run import fingerprints
from dntk_core.run.fingerprints import fingerprint, folder_fingerprint, former_fingerprint


def test_a_file_is_read_once_and_names_need_not_be_text(tmp_path, monkeypatch):
    monkeypatch.setenv("DNTK_CACHE_DIR", str(tmp_path / "cache"))
    folder = tmp_path / "data"
    folder.mkdir()
    for name in (b"a", b"\xff\xfe"):
        (folder / os.fsdecode(name)).write_bytes(name)
    read = []
    monkeypatch.setattr(fingerprints, "sha256", lambda path: read.append(path) or sha256(path))
    first = folder_fingerprint(folder)
    assert len(read) == 2 and folder_fingerprint(folder) == first and len(read) == 2
    # What is remembered may be damaged.
    (memory,) = (tmp_path / "cache" / "fingerprints").iterdir()
    for damage in ("{", "[]", '{"files": {"a": 1}}', memory.read_text().replace("a", "b")):
        memory.write_text(damage)
        assert folder_fingerprint(folder) == first


def test_former_versions_looked_at_names_and_sizes_alone(tmp_path):
    (tmp_path / "a").write_bytes(b"12")
    before, former = folder_fingerprint(tmp_path), former_fingerprint(tmp_path)
    (tmp_path / "a").write_bytes(b"34")
    assert former_fingerprint(tmp_path) == former and folder_fingerprint(tmp_path) != before


def test_the_folder_of_a_class_may_be_a_link_and_links_in_circles_end(tmp_path, monkeypatch):
    monkeypatch.setenv("DNTK_CACHE_DIR", str(tmp_path / "cache"))
    (elsewhere := tmp_path / "elsewhere").mkdir()
    (elsewhere / "0.png").write_bytes(b"12")
    (train := tmp_path / "data" / "train").mkdir(parents=True)
    (train / "a").symlink_to(elsewhere)
    (train / "b").symlink_to(elsewhere)
    (train / "up").symlink_to(tmp_path / "data")
    before = folder_fingerprint(tmp_path / "data")
    (elsewhere / "0.png").write_bytes(b"34")
    changed = folder_fingerprint(tmp_path / "data")
    (train / "b").unlink()
    assert len({before, changed, folder_fingerprint(tmp_path / "data")}) == 3


def test_data_that_cannot_be_read_now_are_one_sentence(tmp_path, monkeypatch):
    def fail(path, **_):
        raise OSError(errno.ESTALE, "Stale file handle", str(path))

    (tmp_path / "a").write_bytes(b"12")
    for call in ("stat", "scandir"):
        with monkeypatch.context() as patch:
            patch.setattr(f"dntk_core.run.fingerprints.os.{call}", fail)
            with pytest.raises(Unreadable, match=r"cannot be read now .Stale file handle.; try again"):
                fingerprint(tmp_path)
