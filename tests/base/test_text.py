"""Text that can be shown as one line."""

import pytest

from dntk_core.base.text import as_line, is_line


@pytest.mark.parametrize("text", ["", "café", "漢字", "a b", "x" * 10])
def test_one_line(text):
    assert is_line(text, 10)


@pytest.mark.parametrize("text", ["a\nb", "a\0", "\x1b[1m", "\u2028", "\u2029", "\ud800", "x" * 11])
def test_anything_else(text):
    assert not is_line(text, 10)
    assert is_line(as_line(text, 10), 10)
