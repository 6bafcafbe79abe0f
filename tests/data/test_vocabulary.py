"""Words of token ids from a file."""

import pytest

from dntk_core.base.errors import DNTKError
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
