"""`dntk gc`: leftovers go, runs go by key, what is damaged only when asked for by name."""

import json

import pytest

from dntk_core.cache.store import Store
from dntk_core.cli.main import main
from tests.artifacts import put


@pytest.fixture
def store(tmp_path, monkeypatch):
    monkeypatch.setenv("DNTK_CACHE_DIR", str(tmp_path))
    return Store(tmp_path)


def freed(capsys, *words):
    assert main(["gc", *words, "--json"]) == 0
    return json.loads(capsys.readouterr().out)["bytes_freed"]


def test_what_no_run_needs_goes_and_what_is_damaged_stays_until_it_is_named(store, capsys):
    folder = put(store).folder
    (folder / "raw.bin").write_bytes(b"xyz")
    kept = put(store)
    assert kept.read("raw.bin") == b"abc" and list((store.root / "damaged").iterdir())
    assert freed(capsys) > 0 and not kept.folder.exists()
    assert list((store.root / "damaged").iterdir()) and freed(capsys) == 0
    assert freed(capsys, "--damaged") > 0 and not list(store.root.glob("damaged/*"))


def test_an_unknown_key_is_one_line(store, capsys):
    assert main(["gc", "nobody"]) == 2
    assert capsys.readouterr().err.count("\n") == 1
