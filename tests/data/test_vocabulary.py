"""Words of token ids from a file."""

import json

import pytest

from dntk_core.base.errors import DNTKError
from dntk_core.data import vocabulary
from dntk_core.data.vocabulary import read_vocabulary


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("v.txt", "<pad>\nthe\ncafé\n", ("<pad>", "the", "café")),
        ("v.json", '["a", "b\\nc"]', ("a", "b·c")),
        ("v.json", '{"b": 2, "a": 0}', ("a", "", "b")),
    ],
)
def test_words_come_in_the_order_of_their_ids(tmp_path, name, text, words):
    (tmp_path / name).write_text(text, encoding="utf-8")
    assert read_vocabulary(tmp_path / name) == words


@pytest.mark.parametrize("text", [b'{"a": -1}', b'{"a": 10000000}', b"3", b"[", b"\xff\xfe"])
def test_what_is_no_vocabulary_is_refused(tmp_path, text):
    (tmp_path / "v.json").write_bytes(text)
    with pytest.raises(DNTKError, match=r"v\.json cannot be read"):
        read_vocabulary(tmp_path / "v.json")


@pytest.mark.parametrize("name", ["v.txt", "v.json"])
def test_a_vocabulary_takes_no_more_memory_than_words_need(tmp_path, name):
    words = vocabulary.MOST_WORDS + 10
    text = {"v.txt": "\n" * words + "x", "v.json": json.dumps([""] * words)}[name]
    (tmp_path / name).write_text(text)
    with pytest.raises(DNTKError, match="at most 1,000,000 words"):
        read_vocabulary(tmp_path / name)
    with open(tmp_path / name, "wb") as file:
        file.truncate(vocabulary.LARGEST_FILE + 1)
    with pytest.raises(DNTKError, match="larger than 16 MiB"):
        read_vocabulary(tmp_path / name)
