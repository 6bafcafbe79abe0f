"""The listing: text in, text out, nothing else; lost or garbage it is empty, and written again."""

import sqlite3

import pytest

from dntk_core.base.errors import DNTKError
from dntk_core.cache.folder import make_folders
from dntk_core.cache.listing import Listing


@pytest.fixture
def listing(tmp_path):
    make_folders(tmp_path)
    return Listing(tmp_path)


def test_rows_come_back_and_are_forgotten(listing):
    assert listing.rows() == {}
    listing.add({"a": "1", "b": "ü"})
    listing.add({"a": "2"})
    assert listing.rows() == {"a": "2", "b": "ü"}
    listing.drop("a")
    listing.drop("never there")
    assert listing.rows() == {"b": "ü"}


def test_garbage_is_empty_and_is_replaced_at_the_next_row(listing):
    listing.add({"a": "1"})
    (listing.folder / "cache.db").write_bytes(b"no database" * 1000)
    assert listing.rows() == {}
    listing.add({"b": "2"})
    listing.add({"b": "2"})
    assert listing.rows() == {"b": "2"}


def test_only_text_is_read_whatever_a_database_holds(listing):
    listing.add({"a": "1"})
    with sqlite3.connect(listing.folder / "cache.db") as database:
        database.execute("UPDATE Cache SET value = x'80049500', mode = 4 WHERE key = 'a'")
    assert listing.rows() == {}


def test_nothing_but_text_is_written():
    from dntk_core.cache.listing import _text

    with pytest.raises(DNTKError, match="text only, got bytes"):
        _text(b"1")


def test_no_part_of_it_is_mapped_into_memory(listing):
    """A page that a bad disk withholds from a map ends the process."""
    from dntk_core.cache.listing import _cache

    listing.add({"a": "1"})
    with _cache(listing.folder) as cache:
        assert cache._sql("PRAGMA mmap_size").fetchall() in ([], [(0,)])
        cache.set("b", "2")
        assert [path.name for path in listing.folder.iterdir()] == ["cache.db"]
    assert listing.rows() == {"a": "1", "b": "2"}
