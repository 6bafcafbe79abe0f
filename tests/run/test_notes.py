"""Notes on runs: read back as written, never half-written, harmless when damaged or hostile."""

import errno
import json
import os

import pytest

from dntk_core.base.errors import DNTKError, Unreadable
from dntk_core.cache.store import Store
from dntk_core.run.notes import NAME, Notes, read_notes, write_notes

KEY = "0123456789abcdef0123"
SAID = Notes("the good one", ("digits", "k 512"), "Peaks.\n“Curves”.", True, {"gaps": {"page": "Spectra", "H": "7"}})


@pytest.fixture
def store(tmp_path) -> Store:
    return Store(tmp_path / "cache")


def test_what_is_written_is_read_back(store):
    assert read_notes(KEY, store) == Notes()
    write_notes(KEY, SAID, store)
    assert read_notes(KEY, store) == SAID
    write_notes(KEY, SAID.without_view("gaps").with_view("b", {"page": "Curves"}), store)
    assert list(read_notes(KEY, store).views) == ["b"] and read_notes(KEY, store).star


def test_a_write_that_fails_leaves_what_was_there(store, monkeypatch):
    write_notes(KEY, SAID, store)

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(DNTKError):
        write_notes(KEY, Notes("other"), store)
    assert read_notes(KEY, store) == SAID


ODD = b'{"views": 1, "tags": 2, "name": "", "note": "", "star": 1}'


@pytest.mark.parametrize("text", [b"", b"[]", b"{}", b'{"name": 3', ODD])
def test_damaged_notes_are_no_notes(store, text):
    write_notes(KEY, SAID, store)
    (store.root / "notes" / f"{KEY}.json").write_bytes(text)
    assert read_notes(KEY, store) == Notes()
    # Somebody wrote them: they are set aside when others take their place.
    write_notes(KEY, Notes("new"), store)
    (aside,) = (store.root / "damaged").iterdir()
    assert aside.read_bytes() == text and read_notes(KEY, store) == Notes("new")


def test_notes_that_cannot_be_read_now_are_not_taken_for_none_and_overwritten(store, monkeypatch):
    write_notes(KEY, SAID, store)

    def fail(*_):
        raise OSError(errno.EMFILE, "Too many open files")

    with monkeypatch.context() as patch:
        patch.setattr("dntk_core.run.notes.read_json", fail)
        for act in (lambda: read_notes(KEY, store), lambda: write_notes(KEY, Notes("new"), store)):
            with pytest.raises(Unreadable, match="Too many open files"):
                act()
    assert read_notes(KEY, store) == SAID


def test_a_changed_word_is_seen(store):
    write_notes(KEY, SAID, store)
    file = store.root / "notes" / f"{KEY}.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | {"name": "another"}))
    assert read_notes(KEY, store) == Notes()


@pytest.mark.parametrize("key", ["../../etc/passwd", "", "0123", "x" * 20, "0123456789abcdef/../.."])
def test_only_keys_of_runs_name_files(store, key):
    with pytest.raises(DNTKError):
        write_notes(key, SAID, store)
    assert read_notes(key, store) == Notes()


def test_what_is_too_long_is_refused_in_a_sentence():
    for odd in ({"name": "x" * (NAME + 1)}, {"note": "x" * 5000}, {"tags": ("",)}, {"views": {"": {}}}):
        with pytest.raises(DNTKError, match="shorten"):
            Notes(**odd)
