"""The cache's own folder: its owner's alone, whoever makes it first."""

import os

import pytest
from artifacts import put

from dntk_core.base.errors import DNTKError
from dntk_core.base.spec import RunSpec
from dntk_core.cache.folder import make_folders
from dntk_core.cache.index import Index
from dntk_core.cache.store import Store


@pytest.mark.parametrize("umask", [0o022, 0])
@pytest.mark.parametrize("first", [lambda store: Index(store).begin(RunSpec.default()), put], ids=["run", "artifact"])
def test_nobody_else_can_look_in_whatever_is_made_first(tmp_path, umask, first):
    before = os.umask(umask)
    try:
        first(Store(tmp_path / "cache"))
    finally:
        os.umask(before)
    folders = [tmp_path / "cache", *(path for path in (tmp_path / "cache").iterdir() if path.name != "index")]
    assert {path.stat().st_mode & 0o777 for path in folders} == {0o700}


@pytest.mark.parametrize("mode, what", [(0o777, "write to"), (0o720, "write to"), (0o755, "look into")])
def test_a_folder_that_others_can_write_to_or_look_into_is_named(tmp_path, mode, what):
    (tmp_path / "wide").mkdir()
    (tmp_path / "wide").chmod(mode)
    with pytest.warns(UserWarning, match=f"others can {what} the cache folder .* chmod 700"):
        make_folders(tmp_path / "wide")


def test_another_users_folder_is_refused(tmp_path, monkeypatch):
    (tmp_path / "theirs").mkdir()
    owner = (tmp_path / "theirs").stat().st_uid
    monkeypatch.setattr("os.geteuid", lambda: owner + 1)
    with pytest.raises(DNTKError, match="belongs to another user; set DNTK_CACHE_DIR"):
        make_folders(tmp_path / "theirs")
