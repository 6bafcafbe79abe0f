"""Where runs are kept."""

from pathlib import Path

import pytest

from dntk_core.base import places

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def home(monkeypatch, tmp_path):
    for name in ("DNTK_CACHE_DIR", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


def test_a_checkout_keeps_its_runs_beside_the_code(home):
    assert places.cache_folder() == ROOT / "cache"


def test_installed_they_are_in_the_users_cache(home, monkeypatch):
    monkeypatch.setattr(places, "checkout", lambda: None)
    assert places.cache_folder() == home / ".cache" / "dntk" / "runs"
    monkeypatch.setenv("XDG_CACHE_HOME", str(home / "elsewhere"))
    assert places.cache_folder() == home / "elsewhere" / "dntk" / "runs"
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    assert places.cache_folder() == home / ".cache" / "dntk" / "runs"
    monkeypatch.setattr("sys.platform", "darwin")
    assert places.cache_folder() == home / "Library" / "Caches" / "dntk" / "runs"


def test_a_folder_that_is_named_wins(home, monkeypatch):
    monkeypatch.setenv("DNTK_CACHE_DIR", str(home / "named"))
    assert places.cache_folder() == home / "named"
